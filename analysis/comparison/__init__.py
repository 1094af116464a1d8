"""Comparison of two raters' accuracy: counts, interval, tests, families, the tables."""

from analysis.comparison.gee import gee
from analysis.comparison.pairs import comparisons

__all__ = ["comparisons", "gee"]
