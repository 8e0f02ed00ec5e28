"""Contextual bandits: policies, environments to try them on, and a simulator."""
