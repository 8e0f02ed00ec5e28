"""What is learnt: tables, streams and bandits, made by formulas or of data sets."""
