"""The paper's networks for the arms of a bandit."""
