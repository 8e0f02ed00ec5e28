"""What all experiments are run, measured and shown with."""
