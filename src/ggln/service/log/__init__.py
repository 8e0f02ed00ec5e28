"""The log: what was asked, what was observed, and in which order it is learnt."""
