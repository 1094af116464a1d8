"""Simulated reader studies with known true values, to measure the coverage of intervals.

A rater of ability a answers item i of task t correctly if a + d_t + u_i + e > 0, with u_i shared by
all raters (patient and item) and e independent for each answer, both normal. A wrong answer is the
item's most frequent wrong option or any other. The true value of every estimate is then an integral
over u, computed by Gauss-Hermite quadrature.

The formulas of `reader_panel.csv` for accuracy are implemented for arrays of complete studies; a
test compares them with the tables. Claims about these readers are compared with these readers' true
values, claims about readers in general with those of the population.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import norm, t

from analysis.bundle import Bundle, bundle_from_tables
from analysis.bundle.model import RaterKind
from analysis.options import Options
from analysis.readings.confidence import Confidence
from analysis.readings.matrix import STATUS_CODES, RaterColumn, ReadingMatrix
from analysis.statistics.merits import figures_of_merit
from analysis.statistics.study import Study
from benchmarks.summary import share

Floats = NDArray[np.float64]

N_OPTIONS = 4
TASK_OFFSETS = (-0.4, 0.0, 0.4)
FAVOURITE = 0.4
"""Share of wrong answers that are the item's most frequent wrong option."""

NO_TABLES = bundle_from_tables(
    pd.DataFrame({"item_id": ["none"]}),
    pd.DataFrame({"rater_id": ["none"], "item_id": ["none"], "answer": [""]}),
)

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A simulated design.

    Parameters
    ----------
    n_readers, n_items : int
        Sizes.
    items_a_patient : int
        1: items are independent.
    reader_mean, reader_sd : float
        The readers' abilities, on the probit scale.
    patient_sd, item_sd : float
        Standard deviations of the effects of patients and items that all raters share.
    """

    n_readers: int
    n_items: int = 200
    items_a_patient: int = 1
    reader_mean: float = 1.1
    reader_sd: float = 0.25
    patient_sd: float = 0.6
    item_sd: float = 0.8

    @property
    def shared_sd(self) -> float:
        """Standard deviation of the effect of an item that all raters share."""
        return float(np.hypot(self.patient_sd, self.item_sd))

    @property
    def population_accuracy(self) -> float:
        """Expected accuracy of a new reader, 0 to 1."""
        return self._accuracy(self.reader_mean, self.reader_sd)

    @property
    def equal_ability(self) -> float:
        """The ability of a model exactly as accurate as readers are on average."""
        return float(
            brentq(lambda a: self._accuracy(a, 0.0) - self.population_accuracy, -5, 5, xtol=1e-13)
        )

    def accuracy_of(self, abilities: Floats) -> Floats:
        """Return the true accuracy for each ability."""
        scale = np.sqrt(1 + self.shared_sd**2)
        right = ndtr((abilities[..., None] + np.array(TASK_OFFSETS)) / scale)
        accuracy: Floats = right.mean(axis=-1)
        return accuracy

    def _accuracy(self, ability: float, spread: float) -> float:
        scale = np.sqrt(1 + self.shared_sd**2 + spread**2)
        return float(np.mean(ndtr((ability + np.array(TASK_OFFSETS)) / scale)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Truths:
    """True values of a study's raters; arrays of shape (n_raters,) or (n_raters, n_raters)."""

    accuracy: Floats
    both_right: Floats
    both_wrong: Floats

    @property
    def raw(self) -> Floats:
        """Probability that two raters give the same answer."""
        any_wrong = (1 - FAVOURITE) / (N_OPTIONS - 1)
        same = (FAVOURITE + any_wrong) ** 2 + (N_OPTIONS - 2) * any_wrong**2
        raw: Floats = self.both_right + self.both_wrong * same
        return raw

    @property
    def brennan_prediger(self) -> Floats:
        """Brennan and Prediger's kappa; as letters are equally likely, also Cohen's on letters."""
        return (self.raw - 1 / N_OPTIONS) / (1 - 1 / N_OPTIONS)

    @property
    def error_consistency(self) -> Floats:
        """Cohen's kappa of correct and wrong."""
        a, b = self.accuracy[:, None], self.accuracy[None, :]
        chance = a * b + (1 - a) * (1 - b)
        return (self.both_right + self.both_wrong - chance) / (1 - chance)

    def fleiss_error_consistency(self, group: Sequence[int]) -> float:
        """Return Fleiss' kappa on right and wrong of a group of raters."""
        pairs = np.triu_indices(len(group), 1)
        observed = (self.both_right + self.both_wrong)[np.ix_(group, group)][pairs].mean()
        share = self.accuracy[list(group)].mean()
        chance = share**2 + (1 - share) ** 2
        return float((observed - chance) / (1 - chance))

    def mean_brennan_prediger(self, group: Sequence[int]) -> float:
        """Return Brennan and Prediger's kappa of a group of raters."""
        pairs = np.triu_indices(len(group), 1)
        return float(self.brennan_prediger[np.ix_(group, group)][pairs].mean())


def truths(design: Design, abilities: Floats) -> Truths:
    """Return the true values for raters of given abilities, shape (n_raters,)."""
    shared = design.shared_sd * _NODES
    right = ndtr(abilities[:, None, None] + np.array(TASK_OFFSETS)[:, None] + shared)
    weighted = right * _WEIGHTS / len(TASK_OFFSETS)
    both = np.einsum("atn,btn->ab", weighted, right)
    accuracy = weighted.sum(axis=(1, 2))
    wrong = 1 - accuracy[:, None] - accuracy[None, :] + both
    return Truths(accuracy=accuracy, both_right=both, both_wrong=wrong)


def simulated(
    design: Design,
    columns: tuple[RaterColumn, ...],
    abilities: Floats,
    generator: np.random.Generator,
) -> ReadingMatrix:
    """Return the readings of one simulated study, every item answered by every column.

    Parameters
    ----------
    design : Design
        The sizes and spreads.
    columns : tuple of Reads
        The raters under their conditions.
    abilities : numpy.ndarray of float, shape (n_columns,)
        On the probit scale.
    generator : numpy.random.Generator
        The random generator.
    """
    n = design.n_items
    clusters = np.arange(n) // design.items_a_patient
    tasks = generator.integers(len(TASK_OFFSETS), size=n)
    truth = generator.integers(N_OPTIONS, size=n)
    patients = generator.standard_normal(clusters[-1] + 1)[clusters]
    shared = design.patient_sd * patients + design.item_sd * generator.standard_normal(n)
    ease = np.array(TASK_OFFSETS)[tasks] + shared
    right = abilities + ease[:, None] + generator.standard_normal((n, len(columns))) > 0
    answers = np.where(right, truth[:, None], _wrong(truth, right.shape, generator))
    return ReadingMatrix(
        columns=columns,
        item_ids=np.array([f"q{i:05d}" for i in range(n)], dtype=object),
        answers=answers.astype(np.int8),
        statuses=np.full(right.shape, STATUS_CODES["answered"], dtype=np.int8),
        left_out=np.zeros(right.shape, dtype=np.bool_),
        confidence=np.full(right.shape, np.nan),
        truth=truth.astype(np.int8),
        n_options=np.full(n, N_OPTIONS, dtype=np.int64),
        clusters=clusters.astype(np.int64),
        groups={
            "task": np.array([f"task {t}" for t in tasks], dtype=object),
            **{name: np.full(n, "", object) for name in ("category", "subcategory", "option_set")},
        },
    )


def raters(n_readers: int, models: Sequence[str]) -> tuple[RaterColumn, ...]:
    """Return columns for readers R01, R02, ... and models, without condition."""
    readers = [f"R{i + 1:02d}" for i in range(n_readers)]
    return tuple(
        RaterColumn(rater_id=rater, kind=kind, condition="")
        for kind, ids in ((RaterKind.READER, readers), (RaterKind.MODEL, models))
        for rater in ids
    )


def _wrong(
    truth: NDArray[np.int64], shape: tuple[int, ...], generator: np.random.Generator
) -> NDArray[np.int64]:
    n_wrong = N_OPTIONS - 1
    favourite = generator.integers(n_wrong, size=shape[0])[:, None]
    any_of_them = generator.integers(n_wrong, size=shape)
    step = np.where(generator.random(shape) < FAVOURITE, favourite, any_of_them)
    return (truth[:, None] + 1 + step) % N_OPTIONS


class Drawn(Study):
    """A simulated study whose readings are arrays instead of tables."""

    def __init__(self, matrix: ReadingMatrix, options: Options, bundle: Bundle = NO_TABLES) -> None:
        super().__init__(bundle, options)
        items = pd.DataFrame({"options": [""] * len(matrix.truth)})
        figures = figures_of_merit(matrix, items, Confidence())
        vars(self).update(matrix=matrix, figures=figures)


SIZES = (10, 15, 25, 50, 100, 198)
MARGIN, ALPHA = 0.05, 0.05
# number of studies in memory
AT_ONCE = 500
ABILITIES = np.linspace(-6, 8, 20_001)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Both claims of many studies: arrays of shape (n_studies,)."""

    difference: Floats
    fixed_se: Floats
    fixed_df: float
    random_se: Floats
    random_df: Floats

    @property
    def fixed_reach(self) -> Floats:
        """Half the width for these readers."""
        reach: Floats = t.isf(ALPHA / 2, self.fixed_df) * self.fixed_se
        return reach

    @property
    def random_reach(self) -> Floats:
        """Half the width for readers like these, unadjusted."""
        df = np.where(np.isfinite(self.random_df), self.random_df, 1e12)
        reach: Floats = t.isf(ALPHA / 2, df) * self.random_se
        return reach

    @property
    def narrower(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Whether the claim about more readers has the narrower interval."""
        return np.asarray(self.random_reach < self.fixed_reach)


def claims(right: Floats, items_a_patient: int) -> Claims:
    """Return both claims about a model against readers.

    Parameters
    ----------
    right : numpy.ndarray of float, shape (n_studies, n_items, n_readers + 1)
        1 for a correct answer; the model is last.
    items_a_patient : int
        Number of consecutive items of a patient.
    """
    psi = right[..., -1:] - right[..., :-1]
    n_studies, n_items, j = psi.shape
    d = psi.mean(axis=1)
    sums = (psi - d[:, None]).reshape(n_studies, -1, items_a_patient, j).sum(axis=2)
    c = sums.shape[1]
    scale = c / (c - 1) / n_items**2
    var = (sums**2).sum(axis=(1, 2)) * scale / j
    shared = (sums.sum(axis=2) ** 2).sum(axis=1) * scale
    cov2 = np.maximum((shared - j * var) / (j * (j - 1)), 0.0)
    msr = d.var(axis=1, ddof=1)
    bracket = msr + j * cov2
    with np.errstate(divide="ignore", invalid="ignore"):
        df = bracket**2 / (msr**2 / (j - 1))
    return Claims(
        difference=d.mean(axis=1),
        fixed_se=np.sqrt((var + (j - 1) * cov2) / j),
        fixed_df=c - 1,
        random_se=np.sqrt(bracket / j),
        random_df=df,
    )


def panel_rows(
    readers: Sequence[int], n_studies: int, seed: int, n_sizes: int | None = None
) -> list[dict[str, Any]]:
    """Simulate; return one row per number of items per patient, of readers and of patients."""
    rows = []
    for items_a_patient in (1, 4):
        for n_readers in readers:
            for patients in SIZES[:n_sizes]:
                design = Design(
                    n_readers=n_readers,
                    n_items=patients * items_a_patient,
                    items_a_patient=items_a_patient,
                )
                names = {"items": items_a_patient, "readers": n_readers, "patients": patients}
                rows.append({**names, **_shares(design, n_studies, seed)})
    return rows


def _shares(design: Design, n_studies: int, seed: int) -> dict[str, float | None]:
    generator = np.random.default_rng([seed, design.n_readers, design.n_items])
    claims: dict[str, list[Floats]] = {}
    for start in range(0, n_studies, AT_ONCE):
        n = min(AT_ONCE, n_studies - start)
        for name, hits in _counted(design, n, generator).items():
            claims.setdefault(name, []).append(hits.astype(np.float64))
    return {name: share(np.concatenate(hits)) for name, hits in claims.items()}


def _counted(design: Design, n: int, generator: np.random.Generator) -> dict[str, Floats]:
    """Return the counted outcomes of each of n studies; nan if a claim is undefined."""
    j = design.n_readers
    readers = design.reader_mean + design.reader_sd * generator.standard_normal((n, j))
    curve = design.accuracy_of(ABILITIES)
    these = np.interp(readers, ABILITIES, curve).mean(axis=1)
    general = np.full(n, design.population_accuracy)
    # as accurate as these readers, as readers in general, and worse than either by the margin
    models = [np.interp(a, curve, ABILITIES) for a in (these, general, these - MARGIN)]
    models.append(np.interp(general - MARGIN, curve, ABILITIES))
    right = right_answers(design, np.column_stack([readers, *models]), generator)
    equal, typical, worse, worse_in_general = (
        claims(right[..., [*range(j), j + k]], design.items_a_patient) for k in range(4)
    )
    deviation = np.abs(typical.difference - (general - these))
    wider = np.maximum(typical.random_reach, typical.fixed_reach)
    normal = norm.isf(ALPHA / 2) * typical.fixed_se
    defined = typical.random_se > 0
    surer = defined & typical.narrower
    as_it_comes = np.abs(typical.difference) <= typical.random_reach
    is_within = np.abs(typical.difference) <= wider
    return {
        "t": deviation <= typical.fixed_reach,
        "normal": deviation <= normal,
        "like": np.where(defined, is_within, np.nan),
        "alone": np.where(defined, as_it_comes, np.nan),
        "surer": surer,
        "if surer": np.where(surer, as_it_comes, np.nan),
        "I these": np.abs(equal.difference) > equal.fixed_reach,
        "I like": np.where(defined, ~is_within, np.nan),
        "NI these": worse.difference - worse.fixed_reach > -MARGIN,
        "NI like": _shown(worse_in_general),
    }


def _shown(claims: Claims) -> Floats:
    reach = np.maximum(claims.random_reach, claims.fixed_reach)
    return np.where(claims.random_se > 0, claims.difference - reach > -MARGIN, np.nan)


def right_answers(design: Design, abilities: Floats, generator: np.random.Generator) -> Floats:
    """Simulate correct answers, shape (n_studies, n_items, n_raters)."""
    n = len(abilities)
    patients = generator.standard_normal((n, design.n_items // design.items_a_patient))
    ease = np.array(TASK_OFFSETS)[generator.integers(len(TASK_OFFSETS), size=(n, design.n_items))]
    ease += design.patient_sd * np.repeat(patients, design.items_a_patient, axis=1)
    ease += design.item_sd * generator.standard_normal(ease.shape)
    own_scores = generator.standard_normal((*ease.shape, abilities.shape[1]))
    right: Floats = (abilities[:, None] + ease[..., None] + own_scores > 0).astype(np.float64)
    return right
