"""How often the panel is right with few readers and few patients, by thousands of studies at once.

The formulas of `reader_panel.csv` for accuracy, written over arrays of whole studies; a test holds
them against the tables. Claims about these readers are held against these readers' true values,
claims about readers in general against the population's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm, t

from benchmarks.shares import share
from benchmarks.simulated_studies import TASK_OFFSETS, Design, Floats

SIZES = (10, 15, 25, 50, 100, 198)
MARGIN, ALPHA = 0.05, 0.05
# Studies held at once.
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
        """Half the width for readers like these, as it comes."""
        df = np.where(np.isfinite(self.random_df), self.random_df, 1e12)
        reach: Floats = t.isf(ALPHA / 2, df) * self.random_se
        return reach

    @property
    def narrower(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Whether the claim about more readers comes out surer than that about fewer."""
        return np.asarray(self.random_reach < self.fixed_reach)


def claims(right: Floats, items_a_patient: int) -> Claims:
    """Return both claims about a model against readers.

    Parameters
    ----------
    right : numpy.ndarray of float, shape (n_studies, n_items, n_readers + 1)
        1 for a right answer; the model comes last.
    items_a_patient : int
        Items that follow one another belong to one patient.
    """
    psi = right[..., -1:] - right[..., :-1]
    n_studies, n_items, j = psi.shape
    d = psi.mean(axis=1)
    sums = (psi - d[:, None]).reshape(n_studies, -1, items_a_patient, j).sum(axis=2)
    c = sums.shape[1]
    scale = c / (c - 1) / n_items**2
    var = (sums**2).sum(axis=(1, 2)) * scale / j
    whole = (sums.sum(axis=2) ** 2).sum(axis=1) * scale
    cov2 = np.maximum((whole - j * var) / (j * (j - 1)), 0.0)
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


def panel_rows(readers: Sequence[int], n_studies: int, seed: int) -> list[dict[str, Any]]:
    """Simulate; return one row a number of items a patient, of readers and of patients."""
    rows = []
    for items_a_patient in (1, 4):
        for n_readers in readers:
            for patients in SIZES:
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
    found: dict[str, list[Floats]] = {}
    for start in range(0, n_studies, AT_ONCE):
        n = min(AT_ONCE, n_studies - start)
        for name, hits in _counted(design, n, generator).items():
            found.setdefault(name, []).append(hits.astype(np.float64))
    return {name: share(np.concatenate(hits)) for name, hits in found.items()}


def _counted(design: Design, n: int, generator: np.random.Generator) -> dict[str, Floats]:
    """Return what is counted of each of n studies; nan where a claim is undefined."""
    j = design.n_readers
    readers = design.reader_mean + design.reader_sd * generator.standard_normal((n, j))
    curve = design.accuracy_of(ABILITIES)
    these = np.interp(readers, ABILITIES, curve).mean(axis=1)
    general = np.full(n, design.population_accuracy)
    # As good as these readers, as readers in general, and worse than either by the margin.
    models = [np.interp(a, curve, ABILITIES) for a in (these, general, these - MARGIN)]
    models.append(np.interp(general - MARGIN, curve, ABILITIES))
    right = _right(design, np.column_stack([readers, *models]), generator)
    equal, typical, worse, worse_in_general = (
        claims(right[..., [*range(j), j + k]], design.items_a_patient) for k in range(4)
    )
    off = np.abs(typical.difference - (general - these))
    wider = np.maximum(typical.random_reach, typical.fixed_reach)
    normal = norm.isf(ALPHA / 2) * typical.fixed_se
    some = typical.random_se > 0
    surer = some & typical.narrower
    as_it_comes = np.abs(typical.difference) <= typical.random_reach
    held = np.abs(typical.difference) <= wider
    return {
        "t": off <= typical.fixed_reach,
        "normal": off <= normal,
        "like": np.where(some, held, np.nan),
        "alone": np.where(some, as_it_comes, np.nan),
        "surer": surer,
        "if surer": np.where(surer, as_it_comes, np.nan),
        "I these": np.abs(equal.difference) > equal.fixed_reach,
        "I like": np.where(some, ~held, np.nan),
        "NI these": worse.difference - worse.fixed_reach > -MARGIN,
        "NI like": _shown(worse_in_general),
    }


def _shown(found: Claims) -> Floats:
    reach = np.maximum(found.random_reach, found.fixed_reach)
    return np.where(found.random_se > 0, found.difference - reach > -MARGIN, np.nan)


def _right(design: Design, abilities: Floats, generator: np.random.Generator) -> Floats:
    """Simulate right answers, shape (n_studies, n_items, n_raters)."""
    n = len(abilities)
    patients = generator.standard_normal((n, design.n_items // design.items_a_patient))
    ease = np.array(TASK_OFFSETS)[generator.integers(len(TASK_OFFSETS), size=(n, design.n_items))]
    ease += design.patient_sd * np.repeat(patients, design.items_a_patient, axis=1)
    ease += design.item_sd * generator.standard_normal(ease.shape)
    own = generator.standard_normal((*ease.shape, abilities.shape[1]))
    right: Floats = (abilities[:, None] + ease[..., None] + own > 0).astype(np.float64)
    return right
