"""Agreement: which pairs, their counts, the measures, their errors, the resamples, the table."""

from analysis.agreement.groups import agreement_groups
from analysis.agreement.pairs import agreement_pairs

__all__ = ["agreement_groups", "agreement_pairs"]
