"""Every numeric constant of the gated Gaussians, each with its reason.

"Error" below is that of filling in: of rectangles in 300 of scikit-learn's digits after learning 1,100, over
that of the mean image; and of a fifth of the values of eight tables, in deviations.
"""

FOLDS = 4
"""Mixtures, each of which leaves out one of so many parts of the rows. They are joined: the digits' error of
one with 32 Gaussians is 0.33, of four together 0.32."""
JUDGED_NOISE = 0.1
"""Deviation of the noise on left-out rows by which mixtures are compared, in standardised units. Without it
values that repeat, as those of most tables and all images do, ask for Gaussians without width."""
FLOORS = 0.1, 0.03, 0.2
"""Deviations, in standardised units, of which a Gaussian has one in every direction at least; numbers of
Gaussians are compared with the first. With 0.03, 0.1 and 0.2 for all, the digits' error is 0.37, 0.36 and
0.32, that of the table of yachts 0.61, 0.65 and 0.67."""
PULLS = 0.25, 1.0, 4.0
"""How strongly a covariance is drawn to that of all Gaussians together, in rows for each column; numbers of
Gaussians are compared with the first."""
ROOT_PULL = 3.0
"""Rows in advance that say that columns do not go together."""
MOST_GAUSSIANS = 64
"""Gaussians of a mixture at most; fewer where their covariances would be more than `BLOCK_NUMBERS`."""
GAUSSIAN_ROWS = 8
"""Rows for each of them, at least."""
PATIENCE = 2
"""Doublings of their number without a gain after which the search ends."""
JUDGED_WORK = 200_000
"""All folds judge as long as rows times columns squared, and cubed for rows with gaps, are at most this; of
larger tables one does."""
ROUNDS = 30
"""Rounds of expectation maximisation at most."""
SETTLED = 1e-3
"""It ends when a round gains less than this for each row, in nats."""
NEGLIGIBLE = 1e-10
"""A Gaussian whose gate is below this takes no part in a row."""
FEWEST_ROWS = 2 * GAUSSIAN_ROWS
"""Rows below which there is one Gaussian, and no fold is left out."""
LEAST_PIVOT = 1e-12
"""A pivot of a covariance is at least this fraction of its diagonal: the floor is far above it."""
LEAST_COUNT = 1e-9
"""Rows that a Gaussian has at least, where its gate was closed to all of them."""
BLOCK_NUMBERS = 1 << 22
"""Numbers of an intermediate array at most: 32 MB."""
PATTERNS = 16
"""Patterns of gaps that a thread takes at a time."""
ROWS_AT_ONCE = 256
"""Rows of a pattern that one factorisation serves: it takes as long as a fraction of them."""
