"""When a stream looks back: steps of milliseconds to seconds, among rows that take microseconds each.

Whoever has to answer meanwhile lets a copy learn these rows.
"""

from typing import Any

from ggln.engine.newton import constants
from ggln.engine.newton.correctors import SUSPICION
from ggln.engine.newton.shapes import ShapeMixture
from ggln.engine.newton.stream import Stream


def looks_back_within(stream: Stream, rows: int) -> bool:
    """Return whether so many further rows bring a stream to where something is found from many rows.

    Networks are solved afresh, a form of errors is looked for, or a learner begins again. That it may begin
    again is foreseen for few rows; among many, an alarm can begin and ring.
    """
    if stream.solves_within(rows) or _may_begin_again(stream, rows):
        return True
    return any(_form_is_due(learner, rows) for learner in getattr(stream, "learners_", [stream]))


def _may_begin_again(stream: Any, rows: int) -> bool:
    """Return whether a stream that may forget decides within so many rows, and may find a change."""
    if not hasattr(stream, "learners_") or stream.rows + rows < stream.until:
        return False
    most = constants.MOST_GAIN * min(rows, constants.SUSPECTED)
    alarm = stream.alarm if rows <= constants.SUSPECTED else most + 0.25 * constants.ALARM
    return len(stream.learners_) > 1 or bool(stream.stream[SUSPICION] + most > alarm)


def _form_is_due(learner: Any, rows: int) -> bool:
    """Return whether so many further rows bring a learner to where it looks for a new form."""
    mixture = getattr(learner, "mixture", None)
    if not isinstance(mixture, ShapeMixture):
        return False
    known, since, _ = mixture.counts.tolist()
    return int(since) + rows >= max(constants.FEWEST_RECENT, int(known) // 2)
