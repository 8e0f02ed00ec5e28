"""Neurons that learn by gradient steps: one file for each structure, behind one protocol."""
