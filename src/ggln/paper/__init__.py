"""The paper to read beside the engine: plain NumPy, nothing of the package, nothing fast.

`algorithm` is "Gaussian Gated Linear Networks" (Budden et al., 2020) with the numbers of its equations.
`exact` is what this package adds: neurons that solve their problems, and gates picked by residuals.
"""
