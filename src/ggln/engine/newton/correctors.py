"""Correctors of a stream: small regressions that forget, on what is left after a prediction.

What a learner predicts of a row is a mixture of mean m and deviation s. A corrector of memory T moves it to
m + d and stretches it by sqrt(v): d is a ridge regression of the residuals y - m on the features and on m
itself, v the mean of the squares of what is left of them, in units of s; in both, a row that is `age` rows
old counts exp(-age / T). Sums are kept around their running means, so that units do not matter.

An exponential memory takes long to forget a jump. Where two rows in a row are far off, a corrector begins
again with these two.

Slopes are pulled towards zero, which is the learner's prediction. That costs where a function moves all the
time and the learner stays behind. So there is one more line of such regressions, of the target itself and
pulled less, that are nobody's: those of a learner that would predict zero, as wide as the first one.

Correctors of a learner, and the learner as it is, are its experts; nobody's are experts as well.
`follow_experts` mixes all of them by fixed share, and finds the final prediction: the form of the likeliest
learner, at the mean and deviation of all experts, times a factor that keeps the coverage (`drift`).
`reference_correctors` is the plain twin.
"""

import math

import numpy as np

from ggln.engine.jit import exact_kernel, inner_exact
from ggln.engine.newton import constants
from ggln.engine.newton.banks import COUNT, EXPERTS, FAR, LAST, LEVEL, SPREAD, SPREAD_COUNT
from ggln.engine.newton.form_kernels import HALF_LOG_TWO_PI

MEMORIES = np.asarray(constants.MEMORIES, np.float64)
FADES = np.exp(-1.0 / MEMORIES)
LEVELS = constants.LEVEL_MEMORIES
OUTSIDE, SUSPICION, SINCE, FACTOR = range(4)
"""Places of what a stream knows: rows outside their intervals; evidence for correctors, and rows since it
began; the logarithm of the factor that keeps the coverage."""
KEPT = 4
"""Numbers behind the features of the rows that are kept (`keep`)."""
MISS, TAIL = 1.0 - constants.COVERAGE, 0.5 * (1.0 - constants.COVERAGE)


@inner_exact
def row_moments(own):
    """Return mean and deviation of one mixture [3, P]."""
    centre = own[1, 0]  # where all components agree, the mean is exact
    for j in range(1, own.shape[1]):
        centre += own[0, j] * (own[1, j] - own[1, 0])
    variance = 0.0
    for j in range(own.shape[1]):
        variance += own[0, j] * (own[2, j] ** 2 + (own[1, j] - centre) ** 2)
    return centre, math.sqrt(variance)


@inner_exact
def all_moments(mixtures, moments):
    """Write means and deviations of learners' mixtures [L, 3, P], and nobody's: moments [L + 1, 2] # OUT."""
    learners = mixtures.shape[0]
    for who in range(learners):
        moments[who] = row_moments(mixtures[who])
    moments[learners, 0], moments[learners, 1] = 0.0, moments[0, 1]


@inner_exact
def log_density(y, own, logs):
    """Return the log density of one mixture [3, P] at y; logs: [P], those of its deviations."""
    top = -np.inf
    for j in range(logs.size):
        if own[0, j] > 0.0:
            z = (y - own[1, j]) / own[2, j]
            top = max(top, -0.5 * z * z - logs[j])
    total = 0.0
    for j in range(logs.size):
        if own[0, j] > 0.0:
            z = (y - own[1, j]) / own[2, j]
            total += own[0, j] * math.exp(-0.5 * z * z - logs[j] - top)
    return top + math.log(total) - HALF_LOG_TWO_PI


@inner_exact
def mass_below(y, own):
    """Return the distribution function of one mixture [3, P] at y."""
    found = 0.0
    for j in range(own.shape[1]):
        if own[0, j] > 0.0:
            found += own[0, j] * 0.5 * math.erfc((own[1, j] - y) / (own[2, j] * math.sqrt(2.0)))
    return found


@inner_exact
def inputs_of(x, centre, bank, who, k, least, inputs):
    """Write a row's inputs around their means, [p] # OUT; missing ones are 0, wild ones bounded.

    least: rows that have to be known for the bound; none to predict: slopes from few rows hold no further
    than these.
    """
    used = inputs.size
    count = bank.numbers[who, k, COUNT]
    for j in range(used):
        value = centre if j == used - 1 else x[j]
        inputs[j] = value - bank.means[who, k, j] if value == value else 0.0
        if count > least:
            reach = constants.INPUT_REACH * math.sqrt(bank.scatter[who, k, j, j] / count)
            inputs[j] = min(max(inputs[j], -reach), reach)


@inner_exact
def correct(x, centre, deviation, bank, who, k, inputs, centres, scales):
    """Write where expert k of a learner has the row, and how wide: centres, scales [L + 1, E] # OUT."""
    shift = bank.numbers[who, k - 1, LEVEL]
    if k - 1 >= LEVELS:
        inputs_of(x, centre, bank, who, k - 1, 0.0, inputs)
        for j in range(inputs.size):
            shift += bank.slopes[who, k - 1, j] * inputs[j]
    centres[who, k] = centre + shift
    scales[who, k] = deviation * math.sqrt(bank.numbers[who, k - 1, SPREAD])


@inner_exact
def solve_slopes(scatter, products, pull, factor, slopes):
    """Solve (S + pull diag(S)) slopes = products, by Cholesky; slopes # OUT [p], factor # OUT [p, p]."""
    size = slopes.size
    for i in range(size):
        own = scatter[i, i] * (1.0 + pull)
        for j in range(i + 1):
            total = own if i == j else scatter[i, j]
            for m in range(j):
                total -= factor[i, m] * factor[j, m]
            if i != j:
                factor[i, j] = total * factor[j, j]
            elif total > 1e-9 * own and own > 0.0:
                factor[i, i] = 1.0 / math.sqrt(total)
            else:
                factor[i, i] = 0.0  # an input that is constant, or another one again
    for i in range(size):
        total = products[i]
        for m in range(i):
            total -= factor[i, m] * slopes[m]
        slopes[i] = total * factor[i, i]
    for i in range(size - 1, -1, -1):
        total = slopes[i]
        for m in range(i + 1, size):
            total -= factor[m, i] * slopes[m]
        slopes[i] = total * factor[i, i]


@inner_exact
def teach(x, centre, deviation, residual, left, weight, bank, who, k, inputs, factor):
    """Let corrector k # OUT learn a row: its residual y - m, and what was left of it."""
    numbers = bank.numbers[who, k]
    square = (left / deviation) ** 2
    most = constants.FAR_OFF * numbers[SPREAD]
    far = square > most
    if far and numbers[FAR] > 0.0:  # two in a row: begin again
        apart = (residual - numbers[LAST]) / deviation
        numbers[COUNT], numbers[LEVEL] = 1.0, numbers[LAST]
        numbers[SPREAD], numbers[SPREAD_COUNT] = 1.0 + 0.5 * apart * apart, 2.0
        square, far = numbers[SPREAD], False
        for i in range(inputs.size):
            value = centre if i == inputs.size - 1 else x[i]
            bank.means[who, k, i] = value if value == value else bank.means[who, k, i]
            bank.products[who, k, i] = bank.slopes[who, k, i] = 0.0
            for j in range(i + 1):
                bank.scatter[who, k, i, j] = 0.0
    numbers[LAST], numbers[FAR] = residual, 1.0 if far else 0.0
    fade = FADES[k]
    before = fade * numbers[COUNT]
    count = before + weight
    part = weight * before / count
    step = residual - numbers[LEVEL]
    if k >= LEVELS:
        inputs_of(x, centre, bank, who, k, constants.BOUNDED_ROWS, inputs)
        for i in range(inputs.size):
            bank.products[who, k, i] = fade * bank.products[who, k, i] + part * inputs[i] * step
            for j in range(i + 1):
                bank.scatter[who, k, i, j] = fade * bank.scatter[who, k, i, j] + part * inputs[i] * inputs[j]
            bank.means[who, k, i] += weight * inputs[i] / count
        nobody = who == bank.numbers.shape[0] - 1
        pull = (constants.BARE_ROWS if nobody else constants.SLOPE_ROWS) / count
        solve_slopes(bank.scatter[who, k], bank.products[who, k], pull, factor, bank.slopes[who, k])
    numbers[COUNT], numbers[LEVEL] = count, numbers[LEVEL] + weight * step / count
    before = fade * numbers[SPREAD_COUNT]
    numbers[SPREAD_COUNT] = before + weight
    numbers[SPREAD] = (before * numbers[SPREAD] + weight * min(square, most)) / numbers[SPREAD_COUNT]


@inner_exact
def join_experts(shares, centres, scales):
    """Return mean and deviation of all experts [L + 1, E], and the learner whose experts have most shares."""
    mean, best, most = centres[0, 0], 0, -1.0  # where all agree, the mean is exact
    for who in range(shares.shape[0]):
        own = 0.0
        for k in range(shares.shape[1]):
            mean += shares[who, k] * (centres[who, k] - centres[0, 0])
            own += shares[who, k]
        if own > most and who < shares.shape[0] - 1:
            best, most = who, own
    variance = 0.0
    for who in range(shares.shape[0]):
        for k in range(shares.shape[1]):
            variance += shares[who, k] * (scales[who, k] ** 2 + (centres[who, k] - mean) ** 2)
    return mean, math.sqrt(variance), best


@inner_exact
def expect(x, moments, bank, inputs, centres, scales):
    """Write what all experts say of a row: centres, scales [L + 1, E] # OUT; moments: [L + 1, 2]."""
    for who in range(moments.shape[0]):
        centres[who, 0], scales[who, 0] = moments[who, 0], moments[who, 1]
        for k in range(1, EXPERTS):
            correct(x, moments[who, 0], moments[who, 1], bank, who, k, inputs, centres, scales)


@inner_exact
def final(shares, centres, scales, moments, factor, steady, told):
    """Write the final mean, deviation, and whose form it has: told [3] # OUT.

    factor: on the deviation; steady: whether the form has values that targets repeat. It then stays where it
    is as long as the learner itself is likelier than its correctors.
    """
    mean, deviation, best = join_experts(shares, centres, scales)
    deviation *= factor
    if steady:
        own = 0.0
        for k in range(EXPERTS):
            own += shares[best, k] + shares[-1, k]
        if shares[best, 0] >= 0.5 * own:
            mean, deviation = moments[best, 0], moments[best, 1]
    told[0], told[1], told[2] = mean, deviation, best


@inner_exact
def move(mixture, moments, told, out):
    """Write the mixture [3, P] of mean and deviation `moments` [2] as it is told [3]: out [3, P] # OUT."""
    factor = told[1] / moments[1]
    for j in range(mixture.shape[1]):
        out[0, j] = mixture[0, j]
        out[1, j] = told[0] + factor * (mixture[1, j] - moments[0])
        out[2, j] = factor * mixture[2, j]


@exact_kernel
def expect_moments(X, moments, bank, shares, factor, steady, told):
    """Write final means and deviations of new rows, told [n, 3] # OUT. X: [n, d]; moments: [n, L + 1, 2]."""
    inputs, centres, scales = np.empty(bank.means.shape[2]), np.empty(shares.shape), np.empty(shares.shape)
    for t in range(X.shape[0]):
        expect(X[t], moments[t], bank, inputs, centres, scales)
        final(shares, centres, scales, moments[t], factor, steady, told[t])


@exact_kernel
def expect_rows(X, mixtures, bank, shares, factor, steady, out):
    """Write the final mixtures of new rows, out [3, n, P] # OUT.

    mixtures: [L, 3, n, P], weights, means and deviations that learners predict.
    """
    inputs, moments, told = np.empty(bank.means.shape[2]), np.empty((shares.shape[0], 2)), np.empty(3)
    centres, scales = np.empty(shares.shape), np.empty(shares.shape)
    for t in range(X.shape[0]):
        all_moments(mixtures[:, :, t], moments)
        expect(X[t], moments, bank, inputs, centres, scales)
        final(shares, centres, scales, moments, factor, steady, told)
        best = int(told[2])
        move(mixtures[best, :, t], moments[best], told, out[:, t])


@exact_kernel
def follow_experts(X, goals, counted, mixtures, bank, shares, prior, steady, stream, gains, ring, first, out):
    """Predict rows one by one with all experts, then learn each; out: [3, n, P] # OUT, the final mixtures.

    X: [n, d]; goals, counted: [n], targets and weights of rows; mixtures: [L, 3, n, P], what learners
    predicted; bank: # OUT; shares: [L + 1, E] # OUT; prior: [L + 1, E], what shares come back to; steady: see
    `final`; stream: [4] # OUT; gains: [L] # OUT, by how much the experts of a learner were likelier than
    those of the first; ring: # OUT, the latest rows (`keep`); first: how many rows it was given before. `out`
    may be without rows where nobody asks.
    """
    learners, used, told = mixtures.shape[0], bank.means.shape[2], np.empty(3)
    inputs, factor, moments = np.empty(used), np.empty((used, used)), np.empty((learners + 1, 2))
    centres, scales, logs = np.empty(shares.shape), np.empty(shares.shape), np.empty(shares.shape)
    given, widths = np.empty(learners + 1), np.empty(mixtures.shape[3])
    for t in range(X.shape[0]):
        all_moments(mixtures[:, :, t], moments)
        expect(X[t], moments, bank, inputs, centres, scales)
        final(shares, centres, scales, moments, math.exp(stream[FACTOR]), steady, told)
        best = int(told[2])
        if out.shape[1] > 0:
            move(mixtures[best, :, t], moments[best], told, out[:, t])
        latest = ring[(first + t) % ring.shape[0]]
        keep(X[t], goals[t], counted[t], latest)
        if not counted[t] > 0.0:
            continue
        at = moments[best, 0] + (goals[t] - told[0]) * (moments[best, 1] / told[1])
        below = mass_below(at, mixtures[best, :, t])
        missed = 1.0 if below < TAIL or below > 1.0 - TAIL else 0.0
        stream[OUTSIDE] += missed
        moved = stream[FACTOR] + constants.COVERAGE_PACE * (missed - MISS)
        stream[FACTOR] = min(max(moved, -constants.MOST_FACTOR), constants.MOST_FACTOR)
        judge(goals[t], mixtures[:, :, t], moments, centres, scales, widths, logs)
        latest[-1] = suspect(logs[0], shares[0], stream)
        weigh_experts(logs, shares, prior, given)
        latest[-2] = given[0]
        for who in range(learners):
            gains[who] += given[who] - given[0]
        for who in range(learners + 1):
            centre, deviation = moments[who]
            for k in range(EXPERTS - 1):
                left, residual = goals[t] - centres[who, k + 1], goals[t] - centre
                teach(X[t], centre, deviation, residual, left, counted[t], bank, who, k, inputs, factor)


@inner_exact
def judge(y, mixtures, moments, centres, scales, widths, logs):
    """Write the log density that each expert gives to a target, logs [L + 1, E] # OUT.

    mixtures: [L, 3, P]; widths: [P], for logarithms of deviations. Nobody's have the first
    learner's form.
    """
    learners = mixtures.shape[0]
    logs[learners, 0] = -np.inf
    for who in range(learners + 1):
        form = who if who < learners else 0
        for j in range(widths.size):
            widths[j] = math.log(mixtures[form, 2, j])
        for k in range(1 if who == learners else 0, EXPERTS):
            wide = scales[who, k] / moments[form, 1]
            at = moments[form, 0] + (y - centres[who, k]) / wide
            logs[who, k] = log_density(at, mixtures[form], widths) - math.log(wide)


@inner_exact
def keep(x, goal, weight, latest):
    """Write a row into its place of the ring # OUT [.. + 4]; features that it does not have are missing.

    Behind the features: target, weight, the log density that the experts of the first learner gave to the
    row together, and by how much its correctors were likelier than it is.
    """
    for j in range(latest.size - KEPT):
        latest[j] = x[j] if j < x.size else np.nan
    latest[-4], latest[-3], latest[-2], latest[-1] = goal, weight, 0.0, 0.0


@inner_exact
def suspect(logs, shares, stream):
    """Add up the evidence that the correctors of the first learner beat it, since it began: stream # OUT.

    Return what the row adds.
    """
    total, top = 0.0, -np.inf
    for k in range(1, EXPERTS):
        top = max(top, logs[k])
    corrected = 0.0
    for k in range(1, EXPERTS):
        total += shares[k]
        corrected += shares[k] * math.exp(logs[k] - top)
    gain = top + math.log(corrected / total) - logs[0] - constants.SLACK
    gain = min(max(gain, -constants.MOST_GAIN), constants.MOST_GAIN)
    stream[SUSPICION] += gain
    stream[SINCE] += 1.0
    if stream[SUSPICION] <= 0.0:
        stream[SUSPICION] = stream[SINCE] = 0.0
    return gain


@inner_exact
def weigh_experts(logs, shares, prior, evidence):
    """Move shares # OUT [L + 1, E] by fixed share; evidence: [L + 1] # OUT, what each line's gave."""
    top = -np.inf
    for who in range(shares.shape[0]):
        for k in range(EXPERTS):
            top = max(top, logs[who, k])
    total = 0.0
    for who in range(shares.shape[0]):
        own, given = 0.0, 0.0
        for k in range(EXPERTS):
            own += shares[who, k]
            shares[who, k] *= math.exp(logs[who, k] - top)
            given += shares[who, k]
        evidence[who] = top + math.log(max(given, 1e-300) / own)
        total += given
    for who in range(shares.shape[0]):
        for k in range(EXPERTS):
            kept = (1.0 - constants.SWITCH_RATE) * shares[who, k] / total
            shares[who, k] = kept + constants.SWITCH_RATE * prior[who, k]
