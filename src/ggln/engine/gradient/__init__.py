"""Networks that learn by gradient steps: the paper's, row after row."""
