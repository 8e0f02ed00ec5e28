"""Colours of all pictures: Okabe and Ito's palette, which colour-blind readers can tell apart."""

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#7F7F7F"
PURPLE, SKY, RED = "#CC79A7", "#56B4E9", "#D55E00"
