"""Table 3: policies on contextual bandits, what they earn, their ranks, regret and time.

Other bandits are adult, census, covertype, statlog, mushroom, wheel-0.9, wheel-0.95, wheel-0.99 and
wheel-0.95-clip-11. All finished episodes are part of the tables, so they can be filled piece by piece.
Neural policies need jax and optax, which the extra "peers" brings.

Example: ggln reproduce bandits --tasks wheel --policies GLCB,LinFullPost --seeds 10 --n-jobs -1
"""

from collections.abc import Sequence
from typing import Annotated

from ggln.extras import require
from ggln.reproduction.bandits.episodes import POLICIES, plan
from ggln.reproduction.bandits.summary import summary
from ggln.reproduction.competitors.policies import all_policies
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.options import STORE, Bandits, DataDir, NameList, Option, Steps, Store, Workers
from ggln.reproduction.shared.record import Results
from ggln.reproduction.tasks.bandit_tasks import CONTINUOUS, TASKS, build, check_names


def run(
    tasks: Bandits = CONTINUOUS,
    policies: Annotated[
        Sequence[str], NameList("Names of policies, separated by commas; all by default.")
    ] = POLICIES,
    seeds: Annotated[int, Option("Episodes of each bandit.", least=1)] = 100,
    store: Store = STORE,
    n_jobs: Workers = None,
    data_dir: DataDir = None,
    steps: Steps = None,
) -> Results:
    """Let policies play tasks, and sum up what is finished of these tasks, whichever run it belongs to."""
    check_names(tasks, TASKS, "bandit")
    check_names(policies, POLICIES, "policy")
    if set(policies) & set(all_policies.NEURAL):
        require("jax")  # what is missing is missed before any job starts
        require("optax")
    for name in tasks:
        build(TASKS[name], steps, data_dir)
    jobs.run(plan(tasks, policies, seeds, steps, data_dir), store, n_jobs, "episodes")
    return summary(store, steps)
