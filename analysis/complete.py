"""Import the analysis with the packages that it otherwise imports when it first uses them.

A process that is kept for several analyses imports this module while nobody waits.
"""

import scipy.stats as stats
import statsmodels.stats.multitest as multitest
import statsmodels.stats.proportion as proportion

import analysis.report.formats.pdf as pdf

__all__ = ["multitest", "pdf", "proportion", "stats"]
