"""Agreement: pairs, groups, readers beside models, a rater with themselves; each its own table."""

from analysis.statistics.agreement.between import agreement_between
from analysis.statistics.agreement.groups import agreement_groups
from analysis.statistics.agreement.indices import agreement_indices
from analysis.statistics.agreement.pairs.table import agreement_pairs
from analysis.statistics.agreement.repeats import intra_reader

__all__ = [
    "agreement_between",
    "agreement_groups",
    "agreement_indices",
    "agreement_pairs",
    "intra_reader",
]
