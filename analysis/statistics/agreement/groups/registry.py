"""A group's coefficients by name: how each is estimated and why it may be undefined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Bools, Floats
from analysis.statistics.agreement.groups import coefficients, standard_errors
from analysis.statistics.agreement.groups.ratings import Ratings
from analysis.statistics.agreement.groups.sums import GroupSums
from analysis.statistics.agreement.pairs.registry import (
    BOTH_CONSTANT,
    BOTH_CONSTANT_CORRECT,
    CHANCE_IS_ONE,
    SIZE_ONE,
    SIZE_UNKNOWN,
    SIZE_VARIES,
)
from analysis.translation import later

SINGLE_RATER = later("the group has a single rater")
NO_ANSWER = later("no item was answered")
NO_JUDGED_ANSWER = later("no item with a reference standard was answered")
NO_PAIRED = later("no item was answered by two raters")
NO_JUDGED_PAIRED = later("no item with a reference standard was answered by two raters")

GWET = later("SE Gwet (irrCAC raw ratings)")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMeasure:
    """One coefficient of agreement within a group of raters.

    Parameters
    ----------
    name : str
        As in the table.
    estimate : callable
        From sums of shape (...) to estimates of that shape, nan where undefined.
    standard_error : callable
        From answers and their sums to the standard error.
    method : str
        Estimator and standard error with their sources, for the table.
    on_correctness : bool
        Whether it looks at right and wrong in place of letters.
    from_marginals : bool
        Whether chance comes from the answers' marginals, so that constant raters undo it.
    by_size : bool
        Whether chance comes from the number of options offered.
    one_size : bool
        Whether every item has to offer the same number.
    paired_only : bool
        Whether items with a single answer do not count.
    """

    name: str
    estimate: Callable[[GroupSums], Floats]
    standard_error: Callable[[Ratings, GroupSums], float]
    method: str
    on_correctness: bool = False
    from_marginals: bool = True
    by_size: bool = False
    one_size: bool = False
    paired_only: bool = False

    def counted(self, ratings: Ratings) -> Bools:
        """Whether an item of each kind counts, shape (n_kinds,)."""
        counted: Bools = ratings.answers >= (2 if self.paired_only else 1)
        return counted

    def reason(self, ratings: Ratings, sums: GroupSums) -> str:
        """Say why an undefined estimate is undefined."""
        judged = self.on_correctness
        cases = (
            (len(ratings.codes) < 2, SINGLE_RATER),
            (sums.n == 0, NO_JUDGED_ANSWER if judged else NO_ANSWER),
            (sums.n_paired == 0, NO_JUDGED_PAIRED if judged else NO_PAIRED),
            (
                self.from_marginals and sums.raters.varying == 0,
                BOTH_CONSTANT_CORRECT if judged else BOTH_CONSTANT,
            ),
            *(self._size_cases(ratings) if self.by_size else ()),
        )
        return next((reason for holds, reason in cases if holds), CHANCE_IS_ONE)

    def _size_cases(self, ratings: Ratings) -> tuple[tuple[bool, str], ...]:
        sizes = np.unique(ratings.options[ratings.answers >= (1 if self.one_size else 2)])
        return (
            (bool((sizes == 0).any()), SIZE_UNKNOWN),
            (self.one_size and len(sizes) > 1, SIZE_VARIES),
            (self.one_size, SIZE_ONE),
        )


def _fleiss(name: str, what: str, *, on_correctness: bool = False) -> GroupMeasure:
    return GroupMeasure(
        name=name,
        estimate=coefficients.fleiss_kappa,
        standard_error=standard_errors.fleiss_kappa_se,
        method=f"Fleiss' kappa (1971) on {what}; {GWET}",
        on_correctness=on_correctness,
    )


def _conger(name: str, what: str) -> GroupMeasure:
    return GroupMeasure(
        name=name,
        estimate=coefficients.conger_kappa,
        standard_error=standard_errors.conger_kappa_se,
        method=f"Conger's kappa (1980) on {what}; {GWET}",
    )


def _krippendorff(name: str, what: str) -> GroupMeasure:
    return GroupMeasure(
        name=name,
        estimate=coefficients.krippendorff_alpha,
        standard_error=standard_errors.krippendorff_alpha_se,
        method=f"Krippendorff's alpha, nominal, on {what}; {GWET}",
        paired_only=True,
    )


def _ac1(name: str, what: str) -> GroupMeasure:
    return GroupMeasure(
        name=name,
        estimate=coefficients.ac1,
        standard_error=standard_errors.ac1_se,
        method=f"Gwet's AC1 (2008) on {what}; {GWET}",
        from_marginals=False,
        by_size=True,
        one_size=True,
    )


ARBITRARY, SAME = "arbitrary letters", "the same options"

BRENNAN_PREDIGER = GroupMeasure(
    name="brennan_prediger",
    estimate=coefficients.brennan_prediger,
    standard_error=standard_errors.brennan_prediger_se,
    method=f"Brennan and Prediger (1981), chance the mean of 1/k; {GWET}",
    from_marginals=False,
    by_size=True,
)

EVERYWHERE = (
    BRENNAN_PREDIGER,
    _fleiss("error_consistency", "correct and incorrect", on_correctness=True),
    _fleiss("fleiss_kappa_letters", ARBITRARY),
    _conger("conger_kappa_letters", ARBITRARY),
    _krippendorff("krippendorff_alpha_letters", ARBITRARY),
    _ac1("ac1_letters", ARBITRARY),
)
WITHIN_OPTION_SET = (
    _fleiss("fleiss_kappa", SAME),
    _conger("conger_kappa", SAME),
    _krippendorff("krippendorff_alpha", SAME),
    _ac1("ac1", SAME),
    BRENNAN_PREDIGER,
)
