"""Comparison of two raters' accuracy: counts, interval, tests, families, the tables."""
