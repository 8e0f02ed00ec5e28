"""What arms of a bandit pay, as posteriors in closed form: regressions on lines, products and bumps."""
