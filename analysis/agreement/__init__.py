"""Agreement: pairs, groups, readers beside models, a rater with themselves; each its own table."""

from analysis.agreement.between import agreement_between
from analysis.agreement.groups import agreement_groups
from analysis.agreement.indices import agreement_indices
from analysis.agreement.pairs import agreement_pairs
from analysis.agreement.repeats import intra_reader

__all__ = [
    "agreement_between",
    "agreement_groups",
    "agreement_indices",
    "agreement_pairs",
    "intra_reader",
]
