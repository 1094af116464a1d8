"""Models as raters: their predictions, and the reading of an answer out of their words."""
