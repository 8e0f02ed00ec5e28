"""What feeds layer 0 of networks that learn by gradient steps."""
