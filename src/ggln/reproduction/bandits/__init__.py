"""Table 3: contextual bandits. `run` describes the experiment."""

from ggln.reproduction.bandits.draw import draw
from ggln.reproduction.bandits.run import run
from ggln.reproduction.bandits.table import table

__all__ = ["draw", "run", "table"]
