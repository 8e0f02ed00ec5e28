"""How time, memory and errors grow with rows and features. `run` describes the experiment."""

from ggln.reproduction.scaling.draw import draw
from ggln.reproduction.scaling.run import run
from ggln.reproduction.scaling.table import table

__all__ = ["draw", "run", "table"]
