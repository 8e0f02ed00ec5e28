"""Local Gaussians, mixed by gates that read the noisy row: denoisers of any noise in closed form."""
