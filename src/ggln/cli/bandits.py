"""Commands of `ggln reproduce` about contextual bandits."""

from typing import Annotated

import typer

from ggln.cli.app import App
from ggln.cli.datasets import DataDir
from ggln.cli.reproduce import RESULTS, Output, Store, Workers, chosen, store_folder
from ggln.cli.show import keep, new_console, print_table

app = App()

Steps = Annotated[
    int | None, typer.Option(min=20, help="Of an episode; by default 5000, fewer where there are fewer rows.")
]


@app.command()
def bandits(
    tasks: Annotated[
        str | None,
        typer.Option(help="Bandits, separated by commas; financial,jester,wheel by default."),
    ] = None,
    policies: Annotated[
        str | None, typer.Option(help="Names of policies, separated by commas; all by default.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Episodes of each bandit.")] = 100,
    steps: Steps = None,
    n_jobs: Workers = 1,
    data_dir: DataDir = None,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Table 3: policies on contextual bandits, what they earn, their ranks, regret and time.

    Other bandits are adult, census, covertype, statlog, mushroom, wheel-0.9, wheel-0.95, wheel-0.99 and
    wheel-0.95-clip-11. All finished episodes are part of the tables, so they can be filled piece by piece.
    Neural policies need jax and optax, which the extra "peers" brings.

    Example: ggln reproduce bandits --tasks wheel --policies GLCB,LinFullPost --seeds 10 --n-jobs -1
    """
    from ggln.plots import bandits as picture
    from ggln.reproduction import bandits as experiment
    from ggln.reproduction.bandit_tables import mean_ranks, tables
    from ggln.reproduction.tasks.bandit_tasks import CONTINUOUS, TASKS

    names = chosen(tasks, CONTINUOUS, tuple(TASKS), "--tasks")
    players = chosen(policies, experiment.POLICIES, option="--policies")
    results = experiment.run(names, players, seeds, store_folder(store, output), n_jobs, data_dir, steps)
    console = new_console()
    for title, columns, rows in tables(results):
        print_table(console, title, columns, rows, {})
    if results["mean_rank"]:
        print_table(console, "Mean rank over the three continuous bandits", *mean_ranks(results), {})
    keep(console, results, output, "bandits", picture.draw)


@app.command("bandit-peers")
def bandit_peers(
    worlds: Annotated[
        str | None, typer.Option(help="Kinds of rewards, separated by commas; all by default.")
    ] = None,
    tasks: Annotated[
        str | None,
        typer.Option(help="The paper's bandits, separated by commas; financial, jester, wheel and mushroom."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Episodes of each.")] = 5,
    steps: Annotated[int, typer.Option(min=20, help="Of an episode.")] = 3000,
    n_jobs: Workers = 1,
    data_dir: DataDir = None,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """GLCB() beside 23 policies of MABWiser, contextualbandits and Vowpal Wabbit, each with its defaults.

    Rewards are linear, products, waves or steps, continuous or binary; then the paper's bandits, rewards that
    come late, and the time of a decision over 8 arms. Needs the libraries of the extra "peers".

    Example: ggln reproduce bandit-peers --worlds linear,products --tasks wheel --seeds 1
    """
    from ggln.plots import bandit_peers as picture
    from ggln.reproduction import bandit_peers as experiment
    from ggln.reproduction.tasks.bandit_tasks import TASKS
    from ggln.reproduction.tasks.bandit_worlds import WORLDS

    names = chosen(worlds, WORLDS, option="--worlds")
    own = chosen(tasks, experiment.PAPERS, tuple(TASKS), "--tasks")
    place = store_folder(store, output)
    results = experiment.run(names, seeds, steps, place, n_jobs, data_dir, own)
    console = new_console()
    print_table(console, f"Regret after {steps} steps", *experiment.table(results), {})
    print_table(console, "Cumulative reward in the paper's bandits", *experiment.paid_table(results), {})
    title = "Regret of GLCB() on products, by the longest delay of rewards in steps"
    print_table(console, title, *experiment.late_table(results), {})
    console.print(f"A decision over 8 arms takes {results['decision_microseconds']:.0f} microseconds.")
    keep(console, results, output, "bandit-peers", picture.draw)


@app.command("bandit-rewards")
def bandit_rewards(
    seeds: Annotated[int, typer.Option(min=1, help="Episodes of each bandit and scaling.")] = 50,
    steps: Steps = None,
    n_jobs: Workers = 1,
    data_dir: DataDir = None,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """How rewards are scaled: what LinFullPost earns for each percentile of clipping, beside the paper's.

    Example: ggln reproduce bandit-rewards --seeds 10 --n-jobs -1
    """
    from ggln.plots import bandit_rewards as picture
    from ggln.reproduction import bandit_rewards as experiment

    results = experiment.run(seeds, store_folder(store, output), n_jobs, data_dir, steps)
    console = new_console()
    title = "Cumulative reward of LinFullPost, rewards clipped at a percentile and at 100 less it"
    print_table(console, title, *experiment.table(results), {})
    keep(console, results, output, "bandit-rewards", picture.draw)


@app.command("bandit-ablation")
def bandit_ablation(
    tasks: Annotated[
        str | None,
        typer.Option(help="Bandits, separated by commas; financial,jester,wheel by default."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Episodes of each bandit, by seeds from 1000 on.")] = 10,
    steps: Steps = None,
    n_jobs: Workers = 1,
    data_dir: DataDir = None,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """What each ingredient of GLCB(step="capped") is worth: one changed in the same episodes; LinFullPost.

    Example: ggln reproduce bandit-ablation --tasks wheel --seeds 3 --n-jobs -1
    """
    from ggln.plots import bandit_ablation as picture
    from ggln.reproduction import bandit_ablation as experiment
    from ggln.reproduction.tasks.bandit_tasks import CONTINUOUS, TASKS

    names = chosen(tasks, CONTINUOUS, tuple(TASKS), "--tasks")
    results = experiment.run(names, seeds, store_folder(store, output), n_jobs, data_dir, steps)
    console = new_console()
    title = "Cumulative reward, and what it is over LinFullPost's in the same episodes"
    print_table(console, title, *experiment.table(results), {})
    keep(console, results, output, "bandit-ablation", picture.draw)
