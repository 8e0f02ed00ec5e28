"""Edited files, odd tables and parameters, interruptions and kills, at random: what people and luck do."""
