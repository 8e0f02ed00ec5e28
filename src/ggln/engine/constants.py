"""Every numeric constant of the engine, each with its reason."""

import numpy as np

# Types -------------------------------------------------------------------------------------------------
WEIGHT = np.float32
"""Weights and messages between layers: memory traffic bounds the speed, and 24 bits exceed what
online gradient steps can use. The kernels are generic: tests also run them in double precision."""
SLOT = np.int32
"""Where a row of weights starts in the pool, in units of `LANES` numbers: 2**31 units are 64 GB."""
CONTEXT_DIM_MAX = 16
"""Half-spaces per neuron at most: a context index then fits 16 bits."""

# Layout ------------------------------------------------------------------------------------------------
LANES = 8
"""Rows of weights are padded to a multiple of this, one AVX2 register of single precision, so that
every loop over a row is free of remainder code."""
CACHE_LINE = 16
"""Numbers of single precision in a line of the cache: what one prefetch brings."""
TILE = 4
"""Neurons that run together and share the loads of their inputs. Measured on 256 x 258 weights: four
give 1.5 times the speed of one; eight would need more than the sixteen vector registers there are."""
BLOCK_ROWS = 1024
"""Rows that pass one layer before the next begins. Long enough that a row of weights is fetched from
memory once for several visits, short enough that the inputs of a wide layer (2 MB) stay in the cache."""
BLOCK_BYTES = 64 * 2**20
"""Buffers of a block take at most this: with hundreds of outputs, blocks are shorter than `BLOCK_ROWS`."""
GATING_ROWS = 128
"""Rows whose projections are computed together: their sums fit the first-level cache."""
CONTEXT_CACHE_BYTES = 768 * 2**20
"""`fit` keeps the slots of all rows for later epochs while they need less than this."""
PARALLEL_WEIGHTS = 2**19
"""Weights of a block that each thread should visit at least: below, starting it takes longer (100 us)."""

# Numerical guards --------------------------------------------------------------------------------------
MIN_PRECISION_SUM = 1e-20
"""A sum of precisions is not divided by unless it exceeds this."""
ROUNDING = 64
"""A neuron's precision sum below so many units in the last place of the sum with its initial weights is
rounding: its weights are zero in truth, and its mean is then drawn to 0, which the biases' hull contains."""
DEPENDENT = 1e-6
"""A constraint of whose squared length elimination leaves less than this fraction depends on the others:
in single precision the rest is rounding."""
INPUT_LIMIT = 1e6
"""Standardised inputs are clipped here: far beyond any half-space, and its square is finite in single
precision."""
TARGET_LIMIT = 2.0
"""Standardised targets are clipped at this multiple of `bias_range` for learning. No neuron's mean can
pass 1 x `bias_range`, so a target further out only inflates a gradient that grows with its square: one
outlier of 1e6 standard deviations would undo the weights of its context for good."""
MAX_MAGNITUDE = 1e100
"""Data larger than this are refused: their squares, which every variance needs, overflow."""
WEIGHT_RANGE = 1e-12, 1e12
"""Weights of rows that count: beyond, Hessians of rows beside each other are singular by rounding."""
BARRIER_FLOOR = 1e-2
"""The log-barrier's gradient 1/d is evaluated at d >= this fraction of its scale (the initial weight for
the weights, the bound for the precision and the mean), so that a weight on its bound gets a finite push."""

BIAS_LEAK = 1e-2
"""Precision of an anisotropic bias across its direction, as a fraction of that along it: small enough
for the directions to be nearly independent, large enough to keep the matrix well conditioned."""

BIAS_LOGIT = 1.0
"""The bias input of a Bernoulli neuron: of the size that standardised features have."""

# Learning ----------------------------------------------------------------------------------------------
STEP_CAP = 0.2
"""kappa of the capped step min(eta, kappa / trace(Hessian)). Below 2 a step on the local quadratic model
cannot overshoot; 0.1 to 0.3 measured best."""
PRECISION_PACE = 0.1
"""In a split step, the precision moves at this fraction of the mean's step: with few outputs the squared
residual of one row says little about the variance. Measured on the Swiss roll: at the same pace some contexts
collapse."""
BLR_PRIOR_PRECISION = 1.0
"""tau_0 of Appendix C, for standardised inputs and targets."""
WAVE = 4
"""Rows that pass a regression's triangle together: with 400 inputs, they fit the first-level cache."""
HINGE_LIMIT = 5.0
"""Standardised features enter a classifier's regression on hinges clipped here: far out, it extrapolates."""
HINGE_PRIOR = 10.0
"""Prior precision tau_0 of a classifier's regression on hinges of unit spread."""
HINGE_VARIANCE = 1e-3
"""The least variance of its errors: 0 and 1 may be told apart without any."""
MAX_HINGES = 4096
"""Of a classifier: its regression holds the square of them, 128 MB here."""
JOINT_PRIOR_ROWS = 1.0
"""The joint regression's noise starts as if so many rows had shown a variance of 1, that of the targets."""
GATE_ROWS = 1024
"""Rows, spread evenly over those seen, that offsets of gates are drawn from: enough for a threshold, and
drawing them costs little beside learning."""
SPLIT_POWER, SPLIT_SHARE = 0.5, 0.7
"""Gates from trees: a split is drawn with probability ~ gain^0.5, and so many of the gates are splits."""
WARMUP_ROWS = 1024
"""A stream redraws its data-dependent gates and statistics whenever the number of rows seen reaches a
power of two up to this one, and learns the rows again: at most twice the work, for this many rows."""
LEAST_SCALE = 1e-300
"""Units are not smaller: the inverse of a subnormal number is infinite."""
CONSTANT_RATIO = 1e-13
"""A feature whose standard deviation is below this fraction of its mean is constant: what is left of it
is rounding, and dividing by it would turn rounding into a signal."""
SETTLED_ROWS, OUTLIER = 100, 10.0
"""From so many rows on, a value enters the running statistics as at most so many deviations off their mean.
Normal data never come that far; data whose scale really changes still move it, a step at a time."""
