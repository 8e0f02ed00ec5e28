"""The estimators: checks, units, and the protocol of scikit-learn."""
