"""Comparison of two raters' accuracy: counts, interval, tests, families, the tables."""

from analysis.statistics.comparison.gee import gee
from analysis.statistics.comparison.pairs import comparisons

__all__ = ["comparisons", "gee"]
