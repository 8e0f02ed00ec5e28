"""The engine: arrays in, arrays out. It knows NumPy and Numba, and nothing of estimators."""
