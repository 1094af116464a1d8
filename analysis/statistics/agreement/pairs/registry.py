"""The measures by name, why each may be undefined, and the sets of items they are counted in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from analysis.arrays import Bools, Floats, Ints
from analysis.readings.matrix import ReadingMatrix
from analysis.statistics.agreement.pairs import measures, standard_errors
from analysis.statistics.agreement.pairs.counts import PairCounts, Sums
from analysis.statistics.agreement.pairs.measures import both_constant, either_constant
from analysis.translation import later

Reasons = npt.NDArray[np.object_]

NO_ITEM = later("no item was answered by both raters")
NO_JUDGED = later("no item with a reference standard was answered by both raters")
NO_BOTH_WRONG = later("no item was answered wrongly by both raters")
BOTH_CONSTANT = later("each rater gave a single answer throughout")
BOTH_CONSTANT_CORRECT = later("each rater was always right or always wrong")
CHANCE_IS_ONE = later("agreement expected by chance is 1")
SIZE_UNKNOWN = later("the number of options is not given for every item")
SIZE_ONE = later("a single option was offered")
SIZE_VARIES = later("the number of options varies")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One measure of agreement between two raters.

    Parameters
    ----------
    name : str
        As in the tables.
    estimate : callable
        From sums of shape (...) to estimates of that shape, nan where undefined.
    standard_error : callable
        From counts to standard errors, shape (n_pairs, n_cells).
    n : callable
        From sums to the number of items that count.
    constant : callable
        From sums to whether a rater is constant in what the measure looks at, so that a standard
        error of 0 says nothing.
    reason : callable
        From sums to the sentence that says why an undefined estimate is undefined.
    normal : bool
        Whether the analytic interval is normal; else t with n - 1 degrees of freedom.
    method : str
        Estimator and standard error with their sources, for the tables.
    on_correctness : bool
        Whether it looks at right and wrong only.
    """

    name: str
    estimate: Callable[[Sums], Floats]
    standard_error: Callable[[PairCounts], Floats]
    n: Callable[[Sums], Floats]
    constant: Callable[[Sums], Bools]
    reason: Callable[[Sums], Reasons]
    normal: bool
    method: str
    on_correctness: bool = False


def _never(sums: Sums) -> Bools:
    return np.zeros(sums.agree.shape, dtype=bool)


def _constant_correctness(sums: Sums) -> Bools:
    return either_constant(sums.correctness)


def _why_not_kappa(sums: Sums) -> Reasons:
    return _first(
        sums,
        (sums.n == 0, NO_ITEM),
        (both_constant(sums), BOTH_CONSTANT),
        otherwise=CHANCE_IS_ONE,
    )


def _why_not_error_consistency(sums: Sums) -> Reasons:
    return _first(
        sums,
        (sums.judged == 0, NO_JUDGED),
        (both_constant(sums.correctness), BOTH_CONSTANT_CORRECT),
        otherwise=CHANCE_IS_ONE,
    )


def _why_not_raw(sums: Sums) -> Reasons:
    return _first(sums, otherwise=NO_ITEM)


def _why_not_same_wrong(sums: Sums) -> Reasons:
    return _first(sums, (sums.judged == 0, NO_JUDGED), otherwise=NO_BOTH_WRONG)


def _why_not_brennan_prediger(sums: Sums) -> Reasons:
    return _first(
        sums, (sums.n == 0, NO_ITEM), (_size_unknown(sums), SIZE_UNKNOWN), otherwise=CHANCE_IS_ONE
    )


def _why_not_ac1(sums: Sums) -> Reasons:
    return _first(
        sums,
        (sums.n == 0, NO_ITEM),
        (_size_unknown(sums), SIZE_UNKNOWN),
        ((sums.options > 0).sum(axis=0) > 1, SIZE_VARIES),
        otherwise=SIZE_ONE,
    )


def _size_unknown(sums: Sums) -> Bools:
    unknown: Bools = sums.options[sums.sizes == 0].sum(axis=0) > 0
    return unknown


def _first(sums: Sums, *cases: tuple[Bools, str], otherwise: str) -> Reasons:
    reasons = np.full(sums.agree.shape, otherwise, dtype=object)
    for holds, reason in reversed(cases):
        reasons[holds] = reason
    return reasons


FLEISS_COHEN_EVERITT = later("SE Fleiss, Cohen and Everitt (1969)")
RAW_RATINGS = later("SE irrCAC raw ratings (n - 1)")

RAW = Measure(
    name="raw",
    estimate=measures.raw,
    standard_error=standard_errors.raw_se,
    n=attrgetter("n"),
    constant=either_constant,
    reason=_why_not_raw,
    normal=False,
    method=f"share of items with the same answer; {RAW_RATINGS}",
)
KAPPA_LETTERS = Measure(
    name="kappa_letters",
    estimate=measures.kappa_letters,
    standard_error=standard_errors.kappa_letters_se,
    n=attrgetter("n"),
    constant=either_constant,
    reason=_why_not_kappa,
    normal=True,
    method=f"Cohen's kappa (1960) on arbitrary letters; {FLEISS_COHEN_EVERITT}",
)
BRENNAN_PREDIGER = Measure(
    name="brennan_prediger",
    estimate=measures.brennan_prediger,
    standard_error=standard_errors.brennan_prediger_se,
    n=attrgetter("n"),
    constant=either_constant,
    reason=_why_not_brennan_prediger,
    normal=False,
    method=f"Brennan and Prediger (1981), chance the mean of 1/k; {RAW_RATINGS}",
)
ERROR_CONSISTENCY = Measure(
    name="error_consistency",
    estimate=measures.error_consistency,
    standard_error=standard_errors.error_consistency_se,
    n=attrgetter("judged"),
    constant=_constant_correctness,
    reason=_why_not_error_consistency,
    normal=True,
    method=f"Cohen's kappa (1960) on correct and incorrect; {FLEISS_COHEN_EVERITT}",
    on_correctness=True,
)
SAME_WRONG = Measure(
    name="same_wrong",
    estimate=measures.same_wrong,
    standard_error=standard_errors.same_wrong_se,
    n=attrgetter("both_wrong"),
    constant=_never,  # a plain share: two raters who vary may well err alike every time
    reason=_why_not_same_wrong,
    normal=False,
    method="share with the same wrong option where both are wrong; SE of a share (n - 1)",
)
KAPPA = replace(
    KAPPA_LETTERS,
    name="kappa",
    method=f"Cohen's kappa (1960) on the same options; {FLEISS_COHEN_EVERITT}",
)
AC1 = Measure(
    name="ac1",
    estimate=measures.ac1,
    standard_error=standard_errors.ac1_se,
    n=attrgetter("n"),
    constant=either_constant,
    reason=_why_not_ac1,
    normal=False,
    method=f"Gwet's AC1 (2008); {RAW_RATINGS}",
)

EVERYWHERE = (RAW, KAPPA_LETTERS, BRENNAN_PREDIGER, ERROR_CONSISTENCY, SAME_WRONG)
WITHIN_OPTION_SET = (*EVERYWHERE, KAPPA, AC1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Partition:
    """Scopes that share no item, counted in one pass.

    Parameters
    ----------
    order : int
        Place among the partitions.
    names : tuple of str
        The scopes, as in the table's column `scope`.
    members : tuple of numpy.ndarray of int
        Positions of each scope's items.
    measures : tuple of Measure
        What is estimated in each of them.
    """

    order: int
    names: tuple[str, ...]
    members: tuple[Ints, ...]
    measures: tuple[Measure, ...]

    @property
    def items(self) -> Ints:
        """Positions of all items, scope after scope."""
        return np.concatenate([*self.members, np.zeros(0, dtype=np.int64)])

    @property
    def cells(self) -> Ints:
        """The scope of each of these items."""
        return np.repeat(np.arange(len(self.members)), [len(items) for items in self.members])


SCOPES: Mapping[str, tuple[Measure, ...]] = {
    "all": EVERYWHERE,
    "task": EVERYWHERE,
    "option_set": WITHIN_OPTION_SET,
}


def partitions(
    matrix: ReadingMatrix, scopes: Mapping[str, tuple[Measure, ...]] = SCOPES
) -> Iterator[Partition]:
    """Yield all items as one scope, and the scopes of every grouping, each with its measures."""
    for order, (grouping, within) in enumerate(scopes.items()):
        every = {"": np.arange(len(matrix.truth))}
        groups = every if grouping == "all" else matrix.members(grouping)
        yield Partition(
            order=order,
            names=tuple(f"{grouping}={name}" if name else grouping for name in groups),
            members=tuple(groups.values()),
            measures=within,
        )
