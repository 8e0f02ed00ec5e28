"""Exact learning: the weights of a context as the solution of their convex problem, kept up row by row."""
