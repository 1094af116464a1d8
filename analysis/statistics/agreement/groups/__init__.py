"""Agreement within groups of raters: who belongs, the sums, coefficients, errors, the table."""

from analysis.statistics.agreement.groups.table import agreement_groups

__all__ = ["agreement_groups"]
