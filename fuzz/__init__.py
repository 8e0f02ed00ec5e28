"""Edited files and interruptions at random: what a person with bad intentions, or with Ctrl-C, could do."""
