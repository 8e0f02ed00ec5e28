"""Experiments: each module is one table or figure, and a command of `ggln reproduce`.

`shared.experiments` says what a module has. `shared`, `tasks` and `competitors` are what they are made of.
"""
