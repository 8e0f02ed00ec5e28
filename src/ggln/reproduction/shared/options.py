"""What experiments can be asked for: arguments of `run`, and what the command says of them.

An argument of `run` that is annotated with an `Option` is an option of the experiment's command. This module
imports nothing heavy: help reads it without the experiments.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

STORE = Path("results/.jobs")
"""Where finished jobs are kept, unless somebody names another folder."""


@dataclass(frozen=True)
class Option:
    """An argument of `run` that its command takes: what help says of it, and its least and greatest value."""

    help: str
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class NameList(Option):
    """Names, on the command line with commas between them; by default those of `run`.

    known: all names that there are, where these are more than the default ones.
    """

    known: Callable[[], Sequence[str]] | None = None


@dataclass(frozen=True)
class NumberList(Option):
    """Positive whole numbers, on the command line with commas between them."""


def _all_bandits() -> tuple[str, ...]:
    from ggln.reproduction.tasks.bandit_tasks import TASKS

    return tuple(TASKS)


Sets = Annotated[Sequence[str], NameList("Names of data sets, separated by commas; all by default.")]
Models = Annotated[Sequence[str], NameList("Names of models, separated by commas; all by default.")]
Bandits = Annotated[
    Sequence[str],
    NameList("Bandits, separated by commas; financial,jester,wheel by default.", known=_all_bandits),
]
Splits = Annotated[int, Option("Splits of each set; protein has five.", least=1)]
Seeds = Annotated[int, Option("Networks with different gates for each fit, averaged.", least=1)]
Repeats = Annotated[int, Option("Repetitions, averaged.", least=1)]
SetRows = Annotated[int | None, Option("Rows of each set; all by default.", least=20)]
Steps = Annotated[
    int | None, Option("Of an episode; by default 5000, fewer where there are fewer rows.", least=20)
]
Seed = Annotated[int, Option("Seed of samples, gates and order.", least=0, most=2**31 - 1)]
Workers = Annotated[int | None, Option("Jobs at a time; -1 for one on each core.")]
Threads = Annotated[int | None, Option("Threads; -1 for one on each core.")]
DataDir = Annotated[Path | None, Option("A folder of data sets, to look in before GGLN_DATA and the cache.")]
Store = Annotated[Path, Option("Folder of finished jobs. By default .jobs in the output folder.")]
