"""GLCB() beside 23 policies of MABWiser, contextualbandits and Vowpal Wabbit, each with its defaults.

Rewards are linear, products, waves or steps, with Gaussian noise or binary; then come the paper's bandits,
rewards that come late, and the time of a decision over 8 arms. What counts is the regret: what the best arm
pays on average, less what the arms played do.

Needs the libraries of the extra "peers".

Example: ggln reproduce bandit-peers --worlds linear,products --tasks wheel --seeds 1
"""

import time
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from threadpoolctl import threadpool_limits

from ggln.bandits import GLCB, simulate
from ggln.bandits.environments import Episode
from ggln.extras import require, version
from ggln.palette import GREEN, GREY
from ggln.reproduction.bandits import episodes
from ggln.reproduction.competitors.bandit_libraries import LINEAR, policies
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.averages import standard_error
from ggln.reproduction.shared.options import STORE, DataDir, NameList, Option, Store, Workers
from ggln.reproduction.shared.pictures import Figure, name_lines, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable
from ggln.reproduction.tasks import bandit_worlds
from ggln.reproduction.tasks.bandit_tasks import CONTINUOUS, TASKS, check_names
from ggln.reproduction.tasks.bandit_worlds import WORLDS

VERSION = "2"
VERSIONS = dict.fromkeys(("GLCB", "GLCB thompson"), "4")
"""Of the jobs of policies that do not behave as they did in `VERSION`."""
LIBRARIES = ("mabwiser", "contextualbandits", "vowpalwabbit")
OURS = ("GLCB", "GLCB thompson", "GLCB capped")
PAID = ("oracle", episodes.OURS, episodes.CAPPED, "LinFullPost")
"""Policies that play the paper's bandits."""
PAPERS = (*CONTINUOUS, "mushroom")
WAYS = ("ucb", "thompson")
DELAYS = (0, 50, 500)
"""Steps after which a reward comes at the latest; it comes after any number of steps up to that."""


def names_of(world: str) -> tuple[str, ...]:
    """Return the policies that play a world."""
    return tuple(policies(world.startswith("binary")))


def follow(world: str, policy: str, seed: int, steps: int) -> Results:
    """Let one policy play one episode; return its regret, and the processor's microseconds for a step."""
    episode = bandit_worlds.episode(world, seed, steps)
    player = policies(world.startswith("binary"))[policy](seed)
    start = time.process_time()
    with threadpool_limits(1):
        played = simulate.play(player, episode).arms
    spent = time.process_time() - start
    return {"regret": float(simulate.regret(episode, played)[-1]), "microseconds": 1e6 * spent / steps}


def play_late(policy: Any, episode: Episode, longest: int, seed: int) -> Any:
    """Let a policy play while each reward comes any number of steps later, up to the longest delay."""
    random, steps = np.random.default_rng([seed, longest]), len(episode.contexts)
    coming: list[list[int]] = [[] for _ in range(steps + longest + 1)]
    arms = np.empty(steps, np.intp)
    for step, context in enumerate(episode.contexts):
        arms[step] = policy.select(context)
        coming[step + int(random.integers(longest + 1))].append(step)
        for due in coming[step]:
            policy.update(episode.contexts[due], int(arms[due]), float(episode.rewards[due, arms[due]]))
    return arms


def wait(exploration: str, longest: int, seed: int, steps: int) -> Results:
    """Return the regret of `GLCB()` on products of features where rewards come late."""
    episode = bandit_worlds.episode("products", seed, steps)
    policy = GLCB(n_arms=bandit_worlds.ARMS, exploration=exploration, random_state=seed, n_jobs=1)
    played = play_late(policy, episode, longest, seed)
    return {"regret": float(simulate.regret(episode, played)[-1])}


def decide(arms: int, seed: int, rows: int) -> Results:
    """Return the median microseconds of a decision over arms after so many rewards, on the clock."""
    random = np.random.default_rng(seed)
    contexts = random.normal(size=(rows + 500, bandit_worlds.FEATURES))
    functions = [bandit_worlds.waves, bandit_worlds.products]
    mean = np.column_stack([functions[arm % 2](contexts, random) for arm in range(arms)])
    policy = GLCB(n_arms=arms, random_state=seed, n_jobs=1)
    played = random.integers(arms, size=rows)
    policy.partial_fit(
        contexts[:rows], played.tolist(), mean[np.arange(rows), played] + random.normal(size=rows)
    )
    spent = []
    for context in contexts[rows:]:
        start = time.perf_counter()
        policy.select(context)
        spent.append(time.perf_counter() - start)
    return {"microseconds": 1e6 * float(np.median(spent))}


def run(
    worlds: Annotated[
        Sequence[str], NameList("Kinds of rewards, separated by commas; all by default.")
    ] = WORLDS,
    seeds: Annotated[int, Option("Episodes of each.", least=1)] = 5,
    steps: Annotated[int, Option("Of an episode.", least=20)] = 3000,
    store: Store = STORE,
    n_jobs: Workers = None,
    data_dir: DataDir = None,
    tasks: Annotated[
        Sequence[str],
        NameList(
            "The paper's bandits, separated by commas; financial, jester, wheel and mushroom.",
            known=lambda: tuple(TASKS),
        ),
    ] = PAPERS,
) -> Results:
    """Let all policies play some worlds; ours play the paper's bandits and with late rewards as well."""
    check_names(worlds, WORLDS, "world")
    check_names(tasks, TASKS, "bandit")
    for library in LIBRARIES:
        require(library)
    wanted = [
        jobs.Job(
            follow,
            {"world": world, "policy": policy, "seed": seed, "steps": steps},
            VERSIONS.get(policy, VERSION),
        )
        for seed in range(seeds)
        for world in worlds
        for policy in names_of(world)
    ]
    late = [
        jobs.Job(
            wait, {"exploration": way, "longest": longest, "seed": seed, "steps": steps}, VERSIONS["GLCB"]
        )
        for seed in range(seeds)
        for way in WAYS
        for longest in DELAYS
    ]
    paid = [
        jobs.Job(
            episodes.follow,
            _arguments(name, policy, seed),
            VERSIONS.get(policy, VERSION),
            {"data_dir": data_dir},
        )
        for seed in range(seeds)
        for name in tasks
        for policy in PAID
    ]
    timed = jobs.Job(decide, {"arms": 8, "seed": 0, "rows": steps}, VERSIONS["GLCB"])
    found = iter(jobs.run([*wanted, *late, *paid, timed], store, n_jobs, "episodes"))
    played, waited, earned = ([(job.arguments, next(found)) for job in some] for some in (wanted, late, paid))
    return {
        "experiment": "bandit-peers",
        "steps": steps,
        "seeds": seeds,
        "machine": machine() | {key: value for name in LIBRARIES for key, value in version(name).items()},
        "worlds": {world: _world(world, played) for world in worlds},
        "tasks": {
            name: {
                policy: _mean("rewards", earned, task=TASKS[name]._asdict(), policy=policy) for policy in PAID
            }
            for name in tasks
        },
        "late": {
            way: {
                str(longest): _mean("regret", waited, exploration=way, longest=longest) for longest in DELAYS
            }
            for way in WAYS
        },
        "decision_microseconds": next(found)["microseconds"],
    }


def _arguments(name: str, policy: str, seed: int) -> dict[str, Any]:
    """Return the arguments of a policy's episode in one of the paper's bandits."""
    task = TASKS[name]
    setting = episodes.settings(policy, task.binary)
    return {"task": task._asdict(), "policy": policy, "setting": setting, "seeds": [seed], "steps": None}


def _mean(value: str, found: list[tuple[dict[str, Any], Results]], **arguments: Any) -> Results:
    """Return mean and standard error of a value over the jobs with these arguments."""
    own = [np.ravel(r[value]) for given, r in found if all(given[k] == v for k, v in arguments.items())]
    numbers = np.concatenate(own)
    return {"mean": float(numbers.mean()), "error": standard_error(numbers), "seeds": numbers.size}


def _world(world: str, played: list[tuple[dict[str, Any], Results]]) -> Results:
    """Return regrets and times of all policies in a world, and ours over the best of the others."""
    lines = {}
    for policy in names_of(world):
        lines[policy] = _mean("regret", played, world=world, policy=policy)
        lines[policy]["microseconds"] = _mean("microseconds", played, world=world, policy=policy)["mean"]
    rivals = LINEAR if world == "linear" else [policy for policy in lines if policy not in OURS]
    best = min(rivals, key=lambda policy: lines[policy]["mean"])
    return {"policies": lines, "best_other": best, "ratio": lines["GLCB"]["mean"] / lines[best]["mean"]}


def regret_table(results: Results) -> ScoreTable:
    """Return every policy's regret in each world that it can play."""
    found = {world: own["policies"] for world, own in results["worlds"].items()}
    names = dict.fromkeys(policy for own in found.values() for policy in own)
    lines = {
        policy: {world: f"{own[policy]['mean']:.0f}" if policy in own else "" for world, own in found.items()}
        for policy in names
    }
    ratios = {world: f"{own['ratio']:.2f}" for world, own in results["worlds"].items()}
    return ScoreTable(
        f"Regret after {results['steps']} steps",
        dict.fromkeys(found, ""),
        lines | {"GLCB over the best of others": ratios},
    )


def paid_table(results: Results) -> ScoreTable:
    """Return what each policy earns in the paper's bandits."""
    lines = {policy: {name: own[policy]["mean"] for name, own in results["tasks"].items()} for policy in PAID}
    return ScoreTable(
        "Cumulative reward in the paper's bandits", dict.fromkeys(results["tasks"], ".0f"), lines
    )


def late_table(results: Results) -> ScoreTable:
    """Return the regret by the longest delay of rewards."""
    found = results["late"]
    lines = {way: {name: cell["mean"] for name, cell in own.items()} for way, own in found.items()}
    note = f"A decision over 8 arms takes {results['decision_microseconds']:.0f} microseconds."
    return ScoreTable(
        "Regret of GLCB() on products, by the longest delay of rewards in steps",
        {str(longest): ".0f" for longest in DELAYS},
        lines,
        (note,),
    )


def table(results: Results) -> list[ScoreTable]:
    """Return regrets, rewards in the paper's bandits, and what late rewards cost."""
    return [regret_table(results), paid_table(results), late_table(results)]


DRAWN = ("GLCB", "MABWiser", "VW", "contextualbandits")


@styled
def draw(results: Results) -> Figure:
    """Draw the regret of every policy, a panel for each kind of rewards and a line for each library."""
    from ggln.plots.style import in_order

    worlds = results["worlds"]
    columns = min(3, len(worlds))
    rows = -(-len(worlds) // columns)
    figure = new_figure(3.2 * columns, 0.6 + 1.6 * rows)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    colors = dict(zip(DRAWN, (GREEN, *in_order(len(DRAWN))[1:]), strict=True))
    for axes, (world, own) in zip(panels, worlds.items(), strict=False):
        for policy, cell in own["policies"].items():
            library = policy.split()[0]
            default = policy == "GLCB"
            place, face = (
                DRAWN.index(library),
                colors[library] if default or library != "GLCB" else "none",
            )
            axes.plot(
                cell["mean"],
                place,
                "D" if default else "o",
                mec=colors[library],
                mfc=face,
                ms=7 if default else 5,
            )
        axes.axvline(own["policies"]["GLCB"]["mean"], color=GREEN, lw=0.8, zorder=0)
        name_lines([axes], DRAWN)
        axes.set_xlim(0, None)
        axes.set_title(world)
        axes.grid(axis="x", color=GREY, alpha=0.3)
        axes.label_outer(remove_inner_ticks=True)
        axes.tick_params(axis="x", labelbottom=True)
    for axes in panels[len(worlds) :]:
        axes.set_axis_off()
    figure.supxlabel(f"regret after {results['steps']} steps (less is better)", fontsize="medium")
    return figure
