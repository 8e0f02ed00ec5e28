"""`SkproGGLN`: the networks as a probabilistic regressor of skpro. Needs `pip install ggln[skpro]`."""

from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import clone
from skpro.distributions.normal_mixture import NormalMixture
from skpro.regression.base import BaseProbaRegressor

from ggln.distributions import GaussianMixture
from ggln.distributions.joint import Joint
from ggln.estimators.regressor import GGLNRegressor


class SkproGGLN(BaseProbaRegressor):
    """Regression with a predictive distribution, that goes on learning with `update`.

    Distributions are skpro's `NormalMixture`; several outputs have one each.

    Parameters
    ----------
    regressor : GGLNRegressor, optional
        Whose settings are used; the defaults if there is none. It is not fitted itself.

    Attributes
    ----------
    regressor_ : GGLNRegressor
        Fitted, with all its methods.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ggln import GGLNRegressor
    >>> from ggln.adapters.skpro import SkproGGLN
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SkproGGLN(GGLNRegressor(layer_sizes=(8, 8), n_estimators=2, folds=0, random_state=0))
    >>> model.fit(X[:400], y[:400]).update(X[400:420], y[400:420]).predict_interval(
    ...     X[420:], coverage=0.9
    ... ).shape
    (22, 2)
    """

    _tags: ClassVar[dict[str, Any]] = {
        "authors": ["the ggln developers"],
        "capability:multioutput": True,
        "capability:missing": False,
        "capability:update": True,
        "X_inner_mtype": "pd_DataFrame_Table",
        "y_inner_mtype": "pd_DataFrame_Table",
    }

    def __init__(self, regressor: GGLNRegressor | None = None) -> None:
        self.regressor = regressor
        super().__init__()

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:  # noqa: ARG003
        """Return settings for skpro's own checks."""
        small: dict[str, Any] = {"layer_sizes": (8, 4), "n_estimators": 2, "random_state": 0}
        gradient: dict[str, Any] = {"step": "capped", "gating": "tree", "context_dim": 4, "epochs": 5}
        return [
            {"regressor": GGLNRegressor(**small, base_model="feature")},
            {"regressor": GGLNRegressor(**small, **gradient, base_model="blr", folds=0, aggregation="last")},
        ]

    def _fit(self, X: pd.DataFrame, y: pd.DataFrame) -> Self:
        self.regressor_ = GGLNRegressor() if self.regressor is None else clone(self.regressor)
        self._columns = y.columns
        self.regressor_.fit(_named(X), y.to_numpy())
        return self

    def _update(self, X: pd.DataFrame, y: pd.DataFrame) -> Self:
        self.regressor_.partial_fit(_named(X), y.to_numpy())
        return self

    def _predict(self, X: pd.DataFrame) -> pd.DataFrame:
        return self._frame(X, self.regressor_.predict(_named(X)))

    def _predict_var(self, X: pd.DataFrame) -> pd.DataFrame:
        return self._frame(X, self.regressor_.predict(_named(X), return_std=True)[1] ** 2)

    def _predict_quantiles(self, X: pd.DataFrame, alpha: list[float]) -> pd.DataFrame:
        distribution = self.regressor_.predict_dist(_named(X))
        levels = distribution.quantile(alpha).reshape(len(alpha), len(X), len(self._columns))
        columns = self._get_columns(method="predict_quantiles", alpha=alpha)
        # columns stand output by output, the levels of each together
        return pd.DataFrame(np.moveaxis(levels, 0, 2).reshape(len(X), -1), index=X.index, columns=columns)

    def _predict_proba(self, X: pd.DataFrame) -> NormalMixture:
        found: Any = self.regressor_.predict_dist(_named(X))
        several = isinstance(found, Joint)
        marginals = [found.marginal(d) for d in range(len(self._columns))] if several else [found]
        weights, places = common_weights(marginals)
        rows = np.arange(len(X))[:, None]
        pairs = list(zip(marginals, places, strict=True))
        return NormalMixture(
            pi=weights,
            mu=np.stack([marginal.means[rows, place] for marginal, place in pairs], axis=2),
            sigma=np.stack([marginal.stds[rows, place] for marginal, place in pairs], axis=2),
            index=X.index,
            columns=self._columns,
        )

    def _frame(self, X: pd.DataFrame, values: Any) -> pd.DataFrame:
        return pd.DataFrame(np.reshape(values, (len(X), -1)), index=X.index, columns=self._columns)


def _named(X: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with names that scikit-learn accepts: strings."""
    return X.set_axis([str(name) for name in X.columns], axis=1)


def common_weights(marginals: list[GaussianMixture]) -> tuple[Any, list[Any]]:
    """Return weights [n, K] that outputs can share, and the component that each output has there, [n, K].

    skpro's mixtures have the same weights for all outputs. Where the weights of outputs, added up, end at
    different places, components are cut into parts.
    """
    ends = []
    for marginal in marginals:
        upto = np.cumsum(np.broadcast_to(marginal.weights, marginal.means.shape), axis=1, dtype=np.float64)
        ends.append(upto / upto[:, -1:])
    edges = np.sort(np.concatenate(ends, axis=1), axis=1) if len(ends) > 1 else ends[0]
    weights = np.diff(edges, axis=1, prepend=0.0)
    middles = edges - 0.5 * weights
    places = [np.minimum((middles[:, :, None] > own[:, None]).sum(axis=2), own.shape[1] - 1) for own in ends]
    return weights, places
