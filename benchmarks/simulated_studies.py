"""Reader studies whose true values are known: for how often an interval holds what it claims.

A rater of ability a answers item i of task t rightly when a + d_t + u_i + e > 0, with u_i shared by
all raters (patient and item) and e of its own, both normal. Wrong answers fall on the item's
favourite wrong option or on any. Every estimate's true value is then an integral over u, done by
Gauss-Hermite quadrature.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from analysis.bundle import bundle_from_tables
from analysis.bundle.model import RaterKind
from analysis.options import Options
from analysis.readings.confidence import Confidence
from analysis.readings.matrix import STATUS_CODES, ReadingMatrix, Reads
from analysis.statistics.merits import figures_of_merit
from analysis.statistics.study import Study

Floats = NDArray[np.float64]

N_OPTIONS = 4
TASK_OFFSETS = (-0.4, 0.0, 0.4)
FAVOURITE = 0.4
"""How often a wrong answer is the item's favourite wrong option and not any wrong option."""

NO_TABLES = bundle_from_tables(
    pd.DataFrame({"item_id": ["none"]}),
    pd.DataFrame({"rater_id": ["none"], "item_id": ["none"], "answer": [""]}),
)

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What is simulated.

    Parameters
    ----------
    n_readers, n_items : int
        Sizes.
    items_a_patient : int
        1: items are independent.
    reader_mean, reader_sd : float
        The readers' abilities, on the probit scale.
    patient_sd, item_sd : float
        Spread of what all raters share about a patient and about an item.
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
        """Spread of what all raters share about an item."""
        return float(np.hypot(self.patient_sd, self.item_sd))

    @property
    def population_accuracy(self) -> float:
        """Expected accuracy of a reader drawn anew, 0 to 1."""
        return self._accuracy(self.reader_mean, self.reader_sd)

    @property
    def equal_ability(self) -> float:
        """The ability of a model exactly as accurate as readers are on average."""
        return float(
            brentq(lambda a: self._accuracy(a, 0.0) - self.population_accuracy, -5, 5, xtol=1e-13)
        )

    def accuracy_of(self, abilities: Floats) -> Floats:
        """Return the true accuracy that goes with each ability."""
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
        """Chance that two raters give the same answer."""
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
        """Cohen's kappa on right and wrong."""
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
    columns: tuple[Reads, ...],
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
        Where chance comes from.
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


def raters(n_readers: int, models: Sequence[str]) -> tuple[Reads, ...]:
    """Return columns for readers R01, R02, ... and models, without condition."""
    readers = [f"R{i + 1:02d}" for i in range(n_readers)]
    return tuple(
        Reads(rater_id=rater, kind=kind, condition="")
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
    """A simulated study: its readings were drawn as arrays and never stood in tables."""

    def __init__(self, matrix: ReadingMatrix, options: Options) -> None:
        super().__init__(NO_TABLES, options)
        items = pd.DataFrame({"options": [""] * len(matrix.truth)})
        figures = figures_of_merit(matrix, items, Confidence())
        vars(self).update(matrix=matrix, figures=figures)
