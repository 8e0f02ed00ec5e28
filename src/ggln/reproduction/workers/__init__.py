"""Rows on one worker, on two, and a model of more. `run` describes the experiment."""

from ggln.reproduction.workers.draw import draw
from ggln.reproduction.workers.run import run
from ggln.reproduction.workers.table import table

__all__ = ["draw", "run", "table"]
