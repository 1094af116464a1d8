"""Comparison of two raters' accuracy: counts, intervals, tests and tables."""
