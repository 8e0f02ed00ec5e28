"""Limits and intervals of the service, each with its reason."""

BODY_BYTES = 8 * 2**20
"""Of a request: 10,000 rows of 40 features as JSON."""
IMPORT_BYTES = 256 * 2**20
"""Of a model file that is sent: a default model of 30 features has 40 MB."""
ROWS = 10_000
"""Rows of a request: they are one transaction, and others wait for it."""
FEATURES = 1_000
"""Features of a row: each context of each neuron keeps a matrix of their square."""
MODELS = 10_000
"""Models of a service: each is a row in a table until somebody asks for it."""
LEAST_PROPENSITY = 1e-9
"""Of decisions that others made: rewards are divided by it, and a single one would outweigh all others."""
LABELS = 1_000
"""Arms or classes of a model."""
NAME_LENGTH = 64
"""Characters of names of models, of events, of features and of arms."""
KEY_LENGTH = 128
"""Characters of an Idempotency-Key."""
WAIT_SECONDS = 600.0
"""How long an event waits for its truth, unless the model says otherwise."""
LONGEST_WAIT = 366 * 86400.0

LOADED_MODELS = 64
"""Models in memory, of which the one least in use leaves first: a default model has up to 15 MB."""
SNAPSHOT_EVENTS = 5_000
"""Events after which a model is saved. To learn them again takes two seconds; while 15 MB of a default model
are brought to the disk, commits wait, so that more often would be seen in the slowest answers."""
SNAPSHOT_SECONDS = 5.0
"""How long replicas wait at most for what the learner has learnt."""
SNAPSHOTS = 2
"""Snapshots that are kept of a model: if the last cannot be read, the one before and its events can."""
REMEMBER_SECONDS = 7 * 86400.0
"""How long answers are remembered for whoever asks again."""
COMPACTED_ROWS = 10_000
"""Rows that are removed in one transaction: others wait for it."""
LEARN_SECONDS = 0.1
"""How long the learner lets events gather: learnt together they take a third of the time, and answers, which
share Python's interpreter and the processor's cache with it, wait less."""
GATHERED_ROWS = 64
"""Events that are learnt at once, without others being waited for."""
LEARNT_ROWS = 1_024
"""Events that are read from the log at a time."""
PART_ROWS, ASKED_ROWS, ASKED_SECONDS = 256, 8, 1.0
"""Events that are learnt while answers wait; fewer if the model was asked something within the last
second."""
GROUP_REQUESTS = 512
"""Requests that share one commit."""
SMALL_ROWS = 32
"""Rows of a request that others wait for: to predict and write them takes about 5 ms."""
WARM_ROWS = 64
"""Rows after which a model has used all its kernels: before, its answers may have to wait for a compiler."""
EXPIRED_ROWS = 1_000
"""Events whose time is over that are treated in one transaction."""
COUNT_SECONDS = 1e-5
"""Pause for each waiting event between two counts of them, twenty times as long as to count it."""
TICK_SECONDS = 1.0
"""How often the service looks for events whose time is over."""

RECENT = 4_096
"""Events a model's figures remember one by one: for evaluation, comparison and the page."""
SHOWN = 60
"""Of these, events that the page draws one by one."""
SUMS_LENGTH = 400
"""Characters at the beginning of saved figures that hold their sums: up to six numbers of 24 digits."""
POINTS = 240
"""Points of a curve over the whole life of a model; when it has them all, neighbours are joined."""
BINS = 10
"""Of calibration."""
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Of the quantiles that are answered: the outer ones hold nine of ten truths, the inner ones half."""
EXPLAINED_ROWS = 16
"""Latest rows that features are judged by: explaining one takes milliseconds."""
EXPLAIN_SECONDS = 10.0
"""How often at most."""

REQUEST_SECONDS = 30.0
"""How long a request may take until its body is here, and again until it is answered."""
LATE_SECONDS = 0.5
"""How often it is looked for requests that take longer."""
CONNECTIONS = 1_000
"""Requests at a time; more are answered with 503."""
LEASE_SECONDS = 5.0
"""How long a learner that is not heard of keeps its lease."""
POLL_SECONDS = 0.5
"""How often the learner and replicas look into a shared log."""
