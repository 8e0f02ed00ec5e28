"""The service under load, killed again and again: `python -m soak`."""
