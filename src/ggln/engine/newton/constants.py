"""Every numeric constant of exact learning, each with its reason."""

import numpy as np

CHUNK_ROWS = 32
"""Rows whose factors are added to a Hessian together: with 30 inputs they fit the first-level cache."""
BLOCK_ROWS = 32
"""Rows that go through a network together, neuron by neuron, whose weights and curvatures stay in the cache
meanwhile."""
ITERATIONS = 3
"""Newton steps of a context, from its parent's weights. Measured: 2, 3 and 5 give a relative RMSE of 1.011,
1.000 and 0.998."""
ROOT_ITERATIONS = 15
"""Newton steps for all rows of a layer, from weights that may be far off: precisions double at most with
each."""
HALVINGS = 12
ARMIJO = 1e-4
"""A step is halved, at most so often, until the loss falls by this fraction of what its slope promises."""
SETTLED = 1e-4
"""A context is solved when the Newton decrement g'H^-1 g, what a further step would gain, is below this for
each of its rows: no score could tell the difference."""
ROOT_SETTLED = 1e-8
"""The same for all rows of a layer together, which is solved once."""
LEAST_CURVATURE = 1e-10
"""A pivot of a Hessian is at least this fraction of its diagonal: the pull is far above it, rounding is
not."""
LEAST_PIVOT = 0.02
"""A pivot of I - F H^-1 F', the share of others in what a row needs, is at least this: a row that
determines its own context moves its weights 50 times as far as H^-1 g, no more."""
LEAST_LEFT = 0.05
"""The same for the width of its prediction."""
MOST_EVIDENCE = 50.0
"""The logarithm of the odds between a context and its parent: beyond, one of them is believed anyway."""
PULL = 3.0
"""How strongly a context is drawn towards its parent, as if it had seen so many rows. 1 to 10 measured
alike."""
DEEP_PULL = 1.0
"""The same for deep networks, whose contexts are not mixed with their parents."""
SHALLOW_DIM, DEEP_DIM = 4, 8
CONTEXT_ROWS, MANY_ROWS = 9, 36
"""Gates of a neuron: 4 for networks with regressions below, which correct them; for those on features alone
as many as leave 9 rows for each context, up to 8, and beyond these as many as leave 36. On 7,320 rows of
power, 6, 8 and 10 gates give an RMSE of 3.41, 3.22 and 3.16."""
CANDIDATES = 20
"""Half-spaces of which a gate is picked. With 5 the RMSE is 2 % higher, 40 are no better."""
AXIS_SHARE = 0.7
"""Of the candidates, those that look at one feature; the others look at up to `GATE_FEATURES`."""
GATE_FEATURES = 3
GATE_ROWS = 1000
"""Rows, spread evenly, on which candidates are judged: 300 to 4,000 measured alike."""
GATE_PRIOR = 5.0
"""Rows without residual that each side of a candidate is given: a side of few rows proves little."""
SPLIT_ROWS, LEAF_ROWS = 12, 4
"""A node with a gate of its own is cut from so many rows on, into parts of at least so many: 8 and 3, and 24
and 8, measured alike."""
LEVEL_STEP = 2
"""Contexts are solved at every second level of the tree, down to its leaves: at every level takes half as
long again, and measured alike."""
AMPLE_ROWS = 1500
"""Rows of a context, on average, that need no parent: its pull is that of one row. Levels above are skipped
where only the leaves are believed, which begins with tables of 12,000 rows."""
PART_ROWS, PARTS = 1 << 18, 16
"""Rows from which on such a tree is solved in parts, one after the other: they know nothing of each other,
and the copy of the inputs in the order of contexts, 380 bytes a row, is then that of the largest part."""
REACH = 4.0
"""A neuron's mean stays within so many root-mean-square residuals of the layer below it of that layer's mean:
where weights of both signs nearly cancel, a mean could be anything. 3 and 8 measured alike."""
SPAN = 1.0
"""Means stay within the range of the targets, widened by so many times itself on both sides."""
SPREADS = 0.25, 0.5, 1.0, 2.0, 4.0, 16.0
"""Factors on the variance with which each kind of prediction takes part in the mixture: tails and peaks come
from the rows that were left out."""
OFFSETS = 14
"""Components at offsets from the mean: skewness and humps. 12, 14 and 16 give a mean NLL over ten kinds of
noise that differs by 0.002."""
OFFSET_REACH = 4.2
"""The outermost offsets are at quantiles whose log odds are nearly so large: 2 % of the rows lie beyond."""
OFFSET_WIDTH = 1.0
"""The width of such a component, in halves of the distance between its neighbours. 0.8, 1 and 1.2 cost 0.004
in NLL; wider ones smear edges: of uniform noise, 3 % lie beyond a 5 % quantile."""
LEAST_WIDTH = 0.03
"""It is at least so many deviations."""
CLASSES = 3
"""Classes by predicted width, and by predicted level, in which shares may differ; 5 are no better."""
FORM_ROWS = 10.0
"""Rows in advance for the shares of all classes together: half by spreads, half evenly at the offsets."""
CLASS_ROWS = 1.0
"""Rows in advance for each class, as all classes together have them. 1 and 3 measured alike, 10 cost 0.002 in
NLL, and rows of small noise are covered too well."""
FORM_ROUNDS = 100
"""Rounds of expectation maximisation for these shares."""
FORM_FOLDS = 4
"""Experts are weighed by rows that their own shares do not come from."""
FEWEST_FORM_ROWS, MOST_FORM_ROWS = 120, 4096
"""Judged rows below which there are spreads alone: with a form from 60 or 100 rows, 90 % intervals of a
linear function hold 82 and 85 %, with spreads alone 85 and 90 %. Rows above the latter are thinned out."""
RECENT_ROWS, FEWEST_RECENT = 1024, 256
"""A stream keeps so many of its latest rows for a new form, which it looks for when its rows have grown by
half, and by so many at least."""
ATOM_SHARE, ATOM_ROWS, MOST_ATOMS = 0.02, 5, 8
"""An atom is a target that at least one row in fifty has, and five rows; the most frequent ones take part."""
VALUE_SHARE, VALUE_ROWS, MOST_VALUES = 0.002, 3, 256
LATTICE_SHARE = 0.5
"""A lattice is where half of the rows have targets that repeat, each in one row of 500, and in three rows."""
LATTICE_VALUES = 24
"""Values of a lattice that take part in the mixture of a row: the nearest to its mean."""
MOST_COMPONENTS = 3 * len(SPREADS) + OFFSETS + MOST_ATOMS + LATTICE_VALUES
"""Components of a row at most: spreads of three kinds, a form with all its atoms, and a lattice."""
LATTICE_WIDTH, ATOM_WIDTH = 0.1, 0.02
"""The deviation of a component on a lattice is a tenth of the smallest gap between repeated targets; of an
atom, also at most a fiftieth of the targets' deviation."""
SHARE_ROWS = 3.0
"""Shares begin as if so many rows had been explained evenly by all components."""
SHARE_ITERATIONS = 200
"""Rounds of expectation maximisation: after these, shares move by less than a thousandth."""
NETWORKS, MORE_NETWORKS = 8, ((800, 32), (1600, 24), (5000, 16))
"""Networks of streams and of large tables; of tables of at most so many rows, where they take no longer than
8 take with 10,000 rows, and no more than 30 MB with 10 features. On seven tables of 220 to 740 rows, 16 and
32 instead of 8 lower the RMSE by 1.3 and 2.2 %, the NLL by 0.026 and 0.043; on nine, 16, 24 and 32 the NLL by
0.020, 0.027 and 0.029."""
FREEDOMS = float("inf"), 15.0, 6.0, 3.0
"""Degrees of freedom of the copulas that may join several outputs."""
COPULA_ROUNDS = 30
"""Rounds of expectation maximisation over their correlations."""
LEAST_LEVEL = 1e-9
"""A row's level counts as at least this far from 0 and 1, six deviations: a single wild row must not
decide how outputs go together."""
FOLDS = 8
"""Each network leaves out one of so many parts of the rows, and is judged by it."""
JUDGED_ROWS = 1 << 17
"""Rows, spread evenly, that the mixture is found from at most: its shares, some 20 numbers, are settled then.
From 300,000 synthetic rows and from every third, the NLL of new ones differs by less than 0.001 (heavy tails,
skewness, a lattice). Rows on many machines are judged in one place, 64 bytes each: 8 MB."""
MOST_TOLD = 1e4
"""A row that goes on counts so much less that the squares of its factors add up to at most this. Ordinary
rows are far below; where L is next to nothing, factors are enormous and would freeze their context for
good."""
GROWTH = 4
"""A context takes a Newton step when its rows have grown by one part in so many since the last one; 8
measured alike."""
PACE = 2.0
"""Layers that learn together take this part of a Newton step, divided by their number: 1 and 2 measured alike
on tables; a stream that moves asks for more."""
CURVED_ROWS = 256
"""A stream adds up the curvatures of twice so many rows of a region. Of the next ones, one in two stands for
both, then one in four, and so on. Over ten streams of 6,000 rows, RMSE and NLL differ by 0.05 % and 0.0003
from those with every row; a stream of 20,000 rows learns in three quarters of the time."""
REGION_DIM = 2
"""Curvature is kept for each of 2**2 regions, those of a neuron's first gates. Deeper contexts take their
share of it by their rows: each with its own would take twenty times the memory."""
MOST_FEATURES = 32
"""Features that a layer looks at, at most: the Hessian of a context holds the square of its inputs."""
FIT_BUMPS, STREAM_BUMPS = 1000, 512
"""Bumps of the regression below networks at most, in `fit` and in a stream, where a row costs their
square."""
FEWEST_ROWS = 8
"""Rows below which there are no networks: the regression alone predicts."""
WARM_ROWS = 2048
"""A stream is solved afresh whenever its rows have grown by a third or a half, up to so many."""
GROWN = 4
"""A table that goes on is solved afresh whenever its rows have grown by one part in so many."""
KEPT_NUMBERS = 1 << 21
"""As long as its features are at most so many numbers, 16 MB; larger ones go on row by row for good."""
SHELL_ROWS, FEWEST_SHELL_ROWS, LEAST_SHELL = 256, 32, 4
"""Rows, a sample, whose outer ones are left out to see how errors grow outside; rows below which nobody asks;
and the fewest that a shell, and what is left of the rows, must have."""
SHELL_CUTS = 0.5, 0.75
"""A shell is the outer half of the rows along a feature, and the outer quarter, on both sides."""
SHELL_REACH = 0.25
"""The part of a feature's range that its shells reach over at least; those of a table reach over half of it.
After a restart a stream knows few rows, whose values may be close together. On approval polls, standardised
as they come, the date of each new row is beyond those of the latest 40 by eight times their range: by their
shells alone, a deviation of 100 went with errors of 1."""
SHELL_RIDGE = 1e-4
"""The least ridge for them: below, a line without noise is extrapolated by rounding."""
SHELL_STEPS = 20
"""Steps in search of length scales where there is no regression on bumps to take them from."""
SHELL_LEVELS = np.geomspace(1.0, 1e6, 60)
"""Levels that are tried, in variances inside. The least makes error bars a whole range away twice as wide at
least: errors of shells cannot tell that a line goes on."""
SHELL_POWERS = 2.0, 3.0, 4.0
"""Powers of the distance that are tried for the variance. With 1 among them, a part of a wave looks bounded
before it is: at three times the range 90 % of a sine are covered instead of 100 %."""
SHELL_MARGIN = 2.5
"""Factor on the deviation of errors outside: two sides of one function are few. On twelve functions of 200
and 1,000 rows (lines, sines, Friedman's, a square), at 1.5 and 3 times the range, 1.5, 2, 2.5 and 3 cover 82,
86, 87 and 89 % where each is covered least; deviations are 1.0, 1.2, 1.4 and 1.7 times the errors."""
FURTHEST = 10.0
"""Errors grow up to so many lengths of a feature's range beyond it: means do not go further either."""
GAP_ROWS = 32.0
"""After so many rows that lack a feature, networks know what to do without it. With 12 of 600, 90 % intervals
of such rows held 79 %, without any 17 %."""
MEMORIES, LEVEL_MEMORIES = (24.0, 48.0, 192.0, 768.0), 1
"""Rows that correctors of a stream remember; the first looks at the level alone."""
SPREAD_ROWS = 8.0
"""Rows in advance for what a corrector knows of the width of its errors: as wide as predicted."""
SLOPE_ROWS = 3.0
"""Rows in advance that say that there is nothing to correct."""
BARE_ROWS = 1.0
"""The same for regressions of the target itself, whose slopes are not small. A linear function that turns
slowly, noise 0.3, three draws: a memory of 48 rows has an RMSE of 0.333, 0.318, 0.317 with 3, 1, 0.3."""
RENEWED_SHARE = 1e-4
"""What they keep of their share when they begin again: from few rows they are too sure of themselves."""
INPUT_REACH, BOUNDED_ROWS = 6.0, 8.0
"""A corrector bounds inputs at so many of their deviations; those that it learns once it knows so many rows,
those that it predicts always. Where its first rows differ by next to nothing in a feature, the slope is
enormous: of 40,000 rows that alternate every 30, 100 or 500, with 5 and 10 features and correctors that begin
with each change, the worst was off by 16 to 7,600 without that, and by 8 to 12 with it."""
FAR_OFF = 16.0
"""A row is far off where the square of its error is so many times what was expected: four deviations."""
SWITCH_RATE = 1.0 / 256.0
"""The part of its share that each expert gives to all others with each row: after a change, one that had
nothing needs some six nats to take over, and where nothing changes, 0.004 nats a row are the most that this
can cost."""
SLACK = 0.02
"""What the correctors have to gain with each row, in nats, before a stream becomes suspicious."""
MOST_GAIN = 4.0
"""A single row adds at most so much to suspicion: three rows at least ring the alarm."""
ALARM = 12.0
"""Suspicion, in nats, at which a stream thinks that it has changed: by chance, once in 1e5 rows."""
COVERAGE, COVERAGE_PACE, MOST_FACTOR = 0.9, 0.02, 1.0
"""The interval whose coverage a stream keeps; how far a row outside moves the logarithm of the deviations;
and how far it can go in all. Where nothing changes, a pace of 0.02 costs 0.003 in NLL."""
DECIDED, SUSPECTED, CALM = 16, 8, 64
"""A stream decides on its learners after each so many rows; after so many while it is suspicious; and after
so many while it is not and a leader of `WARM_ROWS` is alone. All networks go through the cache with each
block: with 16, 32 and 64 calm rows it takes 35, 25 and 13 % more processor time than without forgetting. For
300 rows after a change, RMSE is 2 and 8 % higher with 32 and 64 than with 16 where the function is
another one, and the same where its level moves."""
FEWEST_SHARED = 8
"""Rows from which on networks of a stream learn on several threads: to hand over takes as long as a row."""
RING_ROWS = 2048
"""Latest rows that a stream keeps, to begin again with."""
FEWEST_BEGUN, MOST_BEGUN = 8, 0.75
"""A learner begins again with so many rows at least, and with at most this part of those that the other one
knows: with nearly the same rows it would be the same."""
UNSURE_ROWS = 8
"""Rows before a change that are not believed either, when a learner of former times is put aside: correctors
notice a change some rows late."""
WON, LOST = 6.0, 12.0
"""Nats by which a challenger has to be ahead to take over, and behind to be given up."""
PATIENCE = 1024
"""Rows after which a challenger is given up that has not won."""
RECALLED = 3.0
"""Nats by which a learner of former times has to explain the rows since a change better than what was
predicted."""
RECALL_ROWS = 128
"""The latest rows by which it is judged, at most."""
REMEMBERED = 2
"""Learners of former times that are kept."""
FADING_STEPS, FADED = 2, 4
"""A learner of which old rows count less is solved afresh twice in each memory, and drops rows after four of
them: they would count one in fifty."""
