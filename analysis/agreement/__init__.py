"""Agreement: which pairs, their counts, the measures, their errors, the resamples, the table."""

from analysis.agreement.pairs import agreement_pairs

__all__ = ["agreement_pairs"]
