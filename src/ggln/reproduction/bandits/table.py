"""Tables of the bandits: what each policy earns, and its ranks."""

from ggln.reproduction.shared.record import Results
from ggln.reproduction.shared.tables import ScoreTable
from ggln.reproduction.tasks.bandit_tasks import CONTINUOUS, TASKS

COLUMNS = ("earned", "seeds", "paper", "of paper", "rank", "us per\ndecision")


def table(results: Results) -> list[ScoreTable]:
    """Return a table for each bandit, and one of mean ranks, where there are any; the best policies first."""
    found = []
    for name, own in results["tasks"].items():
        policies = sorted(own["policies"].items(), key=lambda item: -item[1]["reward"])
        rows = {policy: _line(line) for policy, line in policies}
        title = f"{describe(name)}: cumulative reward in {own['steps']} steps, standard errors over seeds"
        if own["seeds_ranked"]:
            title += f"; ranks on {own['seeds_ranked']} seeds that all have"
        found.append(ScoreTable(title, dict.fromkeys(COLUMNS, ""), rows))
    return [*found, mean_ranks(results)] if results["mean_rank"] else found


def describe(name: str) -> str:
    """Return a bandit's name with what makes it this one."""
    task = TASKS[name]
    if task.kind != "wheel":
        return name
    return f"wheel (delta {task.delta:g}, clipped at percentile {task.percentile:g})"


def _line(own: Results) -> dict[str, str]:
    paper = own.get("paper")
    return {
        "earned": f"{own['reward']:.0f} ± {own['error']:.0f}",
        "seeds": str(own["seeds"]),
        "paper": f"{paper:.0f} ± {own['paper_error']:.0f}" if paper else "",
        "of paper": f"{own['reward'] / paper:.1%}" if paper else "",
        "rank": f"{own['rank']:.2f}" if "rank" in own else "",
        "us per\ndecision": "" if own["microseconds"] is None else f"{own['microseconds']:.0f}",
    }


def mean_ranks(results: Results) -> ScoreTable:
    """Return a line for each policy with its ranks; the best first."""
    names = [name for name in CONTINUOUS if name in results["tasks"]]
    ordered = sorted(results["mean_rank"].items(), key=lambda item: item[1])
    rows = {
        policy: {
            **{name: f"{results['tasks'][name]['policies'][policy]['rank']:.2f}" for name in names},
            "mean": f"{rank:.2f}",
        }
        for policy, rank in ordered
    }
    title = "Mean rank over the three continuous bandits"
    return ScoreTable(title, dict.fromkeys([*names, "mean"], ""), rows)
