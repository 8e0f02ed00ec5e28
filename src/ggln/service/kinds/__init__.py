"""The kinds of models that can be served: how each answers, learns and is judged."""

from ggln.service.kinds.bandit import Bandit
from ggln.service.kinds.classifier import Classifier
from ggln.service.kinds.protocol import Entry, Kind
from ggln.service.kinds.regressor import Regressor

KINDS: dict[str, Kind] = {"regressor": Regressor(), "classifier": Classifier(), "bandit": Bandit()}

__all__ = ["KINDS", "Entry", "Kind"]
