"""Agreement among readers beside agreement between readers and models."""

from analysis.statistics.agreement.between.table import agreement_between

__all__ = ["agreement_between"]
