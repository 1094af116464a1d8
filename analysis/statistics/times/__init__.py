"""Response times of each rater, and what they depend on."""

from analysis.statistics.times.model import time_model
from analysis.statistics.times.summaries import times

__all__ = ["time_model", "times"]
