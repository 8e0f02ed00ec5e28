"""A plain NumPy twin of the joint regression: all rows are kept, and the normal equations solved anew."""

import numpy as np
from numpy.typing import NDArray

from ggln.engine.constants import BLR_PRIOR_PRECISION, JOINT_PRIOR_ROWS

FloatArray = NDArray[np.float64]


class JointRegression:
    """Bayesian linear regression of the targets on all features and a constant, from all rows so far.

    least: the noise's variance is kept between this and its inverse.
    """

    def __init__(self, features: int, outputs: int, least: float) -> None:
        self.X, self.Y = np.empty((0, features + 1)), np.empty((0, outputs))
        self.least = least

    def posterior(self) -> tuple[FloatArray, FloatArray, float]:
        """Return the coefficients' mean [d + 1, D] and precision [d + 1, d + 1], and the noise's variance."""
        precision = BLR_PRIOR_PRECISION * np.eye(self.X.shape[1]) + self.X.T @ self.X
        mean = np.linalg.solve(precision, self.X.T @ self.Y).astype(np.float64)
        residuals = np.sum((self.Y - self.X @ mean) ** 2) + BLR_PRIOR_PRECISION * np.sum(mean**2)
        rows, outputs = self.Y.shape
        variance = (JOINT_PRIOR_ROWS + residuals / outputs) / (JOINT_PRIOR_ROWS + rows)
        return mean, precision, float(np.clip(variance, self.least, 1 / self.least))

    def predict(self, z: FloatArray) -> tuple[FloatArray, float]:
        """Return mean [D] and variance of the posterior predictive distribution at z [d]."""
        x = np.append(z, 1.0)
        mean, precision, noise = self.posterior()
        told = float(x @ np.linalg.solve(precision, x))
        return x @ mean, noise * (1.0 + min(told, 1 / self.least))

    def learn(self, z: FloatArray, y: FloatArray) -> None:
        """Add a row."""
        self.X, self.Y = np.vstack([self.X, np.append(z, 1.0)]), np.vstack([self.Y, y])
