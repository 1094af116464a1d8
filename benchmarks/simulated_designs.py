"""Simulated studies of two conditions, two arms, groups of readers and a model, with known truth.

The score of a reader for a case is s d / 2 - c + u + w + v + e: s is 1 for a positive case and -1
for a negative one, d the reader's separation under the condition, c the reader's criterion; u is
shared by all raters, w by the readers under one condition, v by the two readings of a reader, and e
is the reading's own; all are normal. A score above 0 is the answer "positive", and the score is the
confidence. True sensitivities, specificities, areas and accuracies are normal integrals.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from analysis.arrays import Bools
from analysis.bundle import Bundle, bundle_from_tables
from analysis.bundle.model import RaterKind, Status
from analysis.options import Options
from analysis.readings.circumstances import ReadingTimes
from analysis.readings.matrix import (
    NO_LETTER,
    STATUS_CODES,
    RaterColumn,
    ReadingMatrix,
    reading_matrix,
)
from analysis.statistics.accuracy.diagnostic import diagnostic
from analysis.statistics.accuracy.roc import roc_areas
from analysis.statistics.mrmc.by_class import diagnostic_conditions, diagnostic_panel
from analysis.statistics.mrmc.conditions import reader_conditions, reader_conditions_items
from analysis.statistics.mrmc.groups import (
    reader_groups,
    reader_groups_gain,
    reader_groups_metrics,
)
from analysis.statistics.mrmc.panel import reader_panel
from analysis.statistics.mrmc.time_conditions import time_conditions
from analysis.statistics.mrmc.uncrossed import uncrossed
from analysis.statistics.study import Study
from benchmarks.counted import IntervalOrTest, interval, interval_rows
from benchmarks.simulated_studies import Drawn, Floats

CASE, CASE_CONDITION, READER_CASE = 0.6, 0.3, 0.4
"""Standard deviations of u, w and v; that of e is 1."""
SEPARATION_SD, GAIN_SD, CRITERION_SD = 0.35, 0.25, 0.2
"""Standard deviations between readers: of d, of d between conditions, and of c."""
TIME_SD, CASE_TIME_SD, GAIN_TIME_SD = 0.4, 0.3, 0.15
"""Standard deviations of log times: of a reading, a case, and a reader between conditions."""
NOT_READ = 0.3
"""Share of the cases that a reader does not read in the incomplete design."""
ACCURACIES = {"77 %": 1.95, "95 %": 4.35}
"""Accuracy of the readers, and their mean d."""
SIZES = ((4, 50), (4, 200), (8, 200))
"""Readers and cases."""
CONDITIONS = ("aided", "unaided")
MODEL = "M"


def design_rows(n_studies: int, seed: int, n_sizes: int | None = None) -> list[dict[str, Any]]:
    """Simulate; return one row per size, accuracy and kind of interval."""
    rows = []
    for accuracy, separation in ACCURACIES.items():
        for n_readers, n_cases in SIZES[:n_sizes]:
            design = TwoConditions(n_readers=n_readers, n_cases=n_cases, separation=separation)
            names = {"design": f"{n_readers} readers, {n_cases} cases, accuracy {accuracy}"}
            print(names["design"], file=sys.stderr)
            rows += interval_rows(design.simulate, names, n_studies, seed)
    return rows


def merits(separation: Floats, criterion: Floats, noise: float) -> dict[str, Floats]:
    """Return the true values of raters, over cases of which half are positive.

    Parameters
    ----------
    separation, criterion
        d and c.
    noise
        Variance of a score around s d / 2 - c.
    """
    scale = np.sqrt(noise)
    sensitivity = ndtr((separation / 2 - criterion) / scale)
    specificity = ndtr((separation / 2 + criterion) / scale)
    return {
        "sensitivity": sensitivity,
        "specificity": specificity,
        "accuracy": (sensitivity + specificity) / 2,
        "auc": ndtr(separation / (np.sqrt(2) * scale)),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoConditions:
    """A design in which every reader reads every case under both conditions.

    Parameters
    ----------
    n_readers, n_cases : int
        Sizes; an even number of readers, half of whom are residents, and half in each arm.
    separation : float
        Mean d of the readers, under both conditions.
    """

    n_readers: int
    n_cases: int
    separation: float

    @property
    def model_separation(self) -> float:
        """The d of a model whose area is that expected of a reader."""
        between = SEPARATION_SD**2 + GAIN_SD**2
        return float(self.separation * np.sqrt((CASE**2 + 1) / (_noise() + between / 2)))

    def simulate(self, seed: np.random.SeedSequence) -> Iterator[IntervalOrTest]:
        """Yield every interval of a simulated study."""
        yield from _Drawn(self, np.random.default_rng(seed)).counted()


def _noise() -> float:
    return CASE**2 + CASE_CONDITION**2 + READER_CASE**2 + 1


class _Drawn:
    """A simulated study."""

    def __init__(self, design: TwoConditions, generator: np.random.Generator) -> None:
        normal, j, n = generator.standard_normal, design.n_readers, design.n_cases
        self.design, self.generator = design, generator
        self.separation = design.separation + SEPARATION_SD * normal(j) + GAIN_SD * normal((2, j))
        self.criterion = CRITERION_SD * normal(j)
        self.positive = generator.permutation(np.arange(n) % 2).astype(bool)
        cases = CASE * normal(n)
        self.shared = cases + CASE_CONDITION * normal((2, n))
        side = np.where(self.positive, 0.5, -0.5)[:, None]
        noise = READER_CASE * normal((n, j)) + normal((2, n, j))
        self.scores = (
            side * self.separation[:, None] - self.criterion + self.shared[..., None] + noise
        )
        self.model_scores = side[:, 0] * design.model_separation + cases + normal(n)
        self.gain_in_time = GAIN_TIME_SD * normal(j)
        self.log_ms = (
            10 + CASE_TIME_SD * normal((n, 1)) + TIME_SD * normal((2, n, j)) + 0.3 * normal(j)
        )
        self.log_ms[0] += self.gain_in_time

    @cached_property
    def these(self) -> dict[str, Floats]:
        """True values of these readers, shape (2, n_readers)."""
        return merits(self.separation, self.criterion, _noise())

    @cached_property
    def population(self) -> dict[str, float]:
        """Expected values of a reader, which are equal under both conditions."""
        between = SEPARATION_SD**2 + GAIN_SD**2
        mean = np.array(self.design.separation)
        of_answers = merits(mean, np.array(0.0), _noise() + between / 4 + CRITERION_SD**2)
        of_scores = merits(mean, np.array(0.0), _noise() + between / 2)
        return {**_floats(of_answers), "auc": float(of_scores["auc"])}

    @cached_property
    def model(self) -> dict[str, float]:
        """True values of the model."""
        return _floats(merits(np.array(self.design.model_separation), np.array(0.0), CASE**2 + 1))

    def on_these_cases(self, condition: int) -> dict[str, float]:
        """Return the values expected of a reader on these cases under a condition."""
        between = SEPARATION_SD**2 + GAIN_SD**2
        shift, half = self.shared[condition], self.design.separation / 2
        own_variance = READER_CASE**2 + 1
        scale = np.sqrt(own_variance + between / 4 + CRITERION_SD**2)
        right = ndtr((half + np.where(self.positive, shift, -shift)) / scale)
        pairs = shift[self.positive][:, None] - shift[~self.positive]
        return {
            "sensitivity": float(right[self.positive].mean()),
            "specificity": float(right[~self.positive].mean()),
            "accuracy": float(right.mean()),
            "auc": float(ndtr((2 * half + pairs) / np.sqrt(2 * own_variance + between)).mean()),
        }

    def study(self, read: Bools) -> Study:
        """Return the study of the readings that were made, shape (2, n_cases, n_readers)."""
        n, j = self.scores.shape[1:]
        shape = (n, 2 * j)
        indicators = np.column_stack(
            [read.transpose(1, 2, 0).reshape(shape), np.ones(n, dtype=bool)]
        )
        scores = np.column_stack([self.scores.transpose(1, 2, 0).reshape(shape), self.model_scores])
        used: Bools = np.any(indicators, axis=0)
        indicators, scores = indicators[:, used], scores[:, used]
        bundle, empty = _template(j, n)
        matrix = replace(
            empty,
            columns=tuple(compress(_columns(j), used)),
            answers=np.where(indicators, scores > 0, NO_LETTER).astype(np.int8),
            statuses=np.where(indicators, *_STATUSES).astype(np.int8),
            left_out=np.zeros(indicators.shape, dtype=np.bool_),
            confidence=np.where(indicators, scores, np.nan),
            truth=self.positive.astype(np.int8),
        )
        study = Drawn(matrix, Options(confidence="finding", bootstrap=1), bundle)
        item, column = np.nonzero(indicators[:, :-1])
        log_ms = self.log_ms.transpose(1, 2, 0).reshape(shape)[:, used[:-1]]
        unknown = np.full(len(item), np.nan)
        vars(study)["circumstances"] = ReadingTimes(
            item=item,
            column=column,
            response_ms=np.exp(log_ms[item, column]),
            flagged=np.zeros(len(item), dtype=np.bool_),
            session=np.full(len(item), "", dtype=object),
            place=unknown,
            share=unknown,
        )
        return study

    def counted(self) -> Iterator[IntervalOrTest]:
        """Yield every interval: of the crossed study, of two arms, and with incomplete readings."""
        everything = np.ones(self.scores.shape, dtype=bool)
        yield from self._crossed(self.study(everything))
        arms = everything.copy()
        arms[1, :, ::2] = arms[0, :, 1::2] = False
        yield from _null("arms", reader_groups(self.study(arms)), factor="arm", metric="accuracy")
        is_read = self.generator.random(self.scores.shape[1:]) > NOT_READ
        for row in uncrossed(self.study(everything & is_read)).to_dict("records"):
            label = f"{row['metric']}, {row['method']}"
            if row["model_id"]:
                true = self.model[row["metric"]] - self.population[row["metric"]]
                yield interval(f"incomplete, model minus readers: {label}", row, true)
            else:
                yield interval(f"incomplete, difference of conditions: {label}", row, 0.0)

    def _crossed(self, study: Study) -> Iterator[IntervalOrTest]:
        yield from self._conditions(study)
        yield from self._panels(study)
        groups = reader_groups(study)
        for metric in ("accuracy", "lead"):
            yield from _null("reader groups", groups, factor="level", metric=metric)
        others = reader_groups_metrics(study)
        for metric in ("auc", "sensitivity", "specificity"):
            yield from _null("reader groups", others, factor="level", metric=metric)
        gains = reader_groups_gain(study)
        yield from _null("reader groups, gain", gains, factor="level", metric="accuracy")
        for row in time_conditions(study).to_dict("records"):
            is_own_claim = row["claim"] == "these readers"
            true = np.exp(self.gain_in_time.mean()) if is_own_claim else 1.0
            yield interval(
                f"ratio of times: {row['claim']}", {"estimate": row["ratio"], **row}, true
            )
        yield from self._single_raters(study)

    def _conditions(self, study: Study) -> Iterator[IntervalOrTest]:
        expected = [self.on_these_cases(condition) for condition in (0, 1)]
        by_class = diagnostic_conditions(study)
        tables = [
            reader_conditions(study),
            reader_conditions_items(study),
            by_class[by_class["by"] == "overall"],
        ]
        for row in pd.concat(tables).to_dict("records"):
            metric = row["metric"]
            values = self.these[metric].mean(axis=1)
            true = {
                "these readers": values[0] - values[1],
                "readers like these": 0.0,
                "these items": expected[0][metric] - expected[1][metric],
            }
            yield interval(
                f"difference of conditions, {metric}: {row['claim']}", row, true[row["claim"]]
            )

    def _panels(self, study: Study) -> Iterator[IntervalOrTest]:
        by_class = diagnostic_panel(study)
        tables = [reader_panel(study), by_class[by_class["by"] == "overall"]]
        for row in pd.concat(tables).to_dict("records"):
            metric, condition = row["metric"], CONDITIONS.index(row["condition"])
            is_own_claim = row["claim"] == "these readers"
            readers = (
                self.these[metric][condition].mean() if is_own_claim else self.population[metric]
            )
            label = f"model minus readers, {metric}: {row['claim']}"
            yield interval(label, row, self.model[metric] - readers)

    def _single_raters(self, study: Study) -> Iterator[IntervalOrTest]:
        names = _readers(self.design.n_readers)
        areas, classes = roc_areas(study), diagnostic(study)
        for row in areas[areas["measure"] == "auc"].to_dict("records"):
            if row["rater_id"] != MODEL:
                place = CONDITIONS.index(row["condition"]), names.index(row["rater_id"])
                yield interval("area of a reader", row, self.these["auc"][place])
        for row in classes[classes["by"] == "overall"].to_dict("records"):
            if row["rater_id"] != MODEL:
                place = CONDITIONS.index(row["condition"]), names.index(row["rater_id"])
                for metric, short in (("sensitivity", "sens"), ("specificity", "spec")):
                    limits = {"ci_low": row[f"{short}_low"], "ci_high": row[f"{short}_high"]}
                    true = self.these[metric][place]
                    yield interval(
                        f"{metric} of a reader", {"estimate": row[metric], **limits}, true
                    )


_STATUSES = STATUS_CODES[Status.ANSWERED], STATUS_CODES[Status.ABSENT]


def _columns(n_readers: int) -> list[RaterColumn]:
    """Return the columns of a study: readers under both conditions, then the model."""
    readers = [
        RaterColumn(rater_id=reader, kind=RaterKind.READER, condition=condition)
        for reader in _readers(n_readers)
        for condition in CONDITIONS
    ]
    return [*readers, RaterColumn(rater_id=MODEL, kind=RaterKind.MODEL, condition="")]


@cache
def _template(n_readers: int, n_cases: int) -> tuple[Bundle, ReadingMatrix]:
    """Return the tables of items and raters; the readings are replaced by those of a study."""
    ids = [f"q{i:04d}" for i in range(n_cases)]
    names = [*_readers(n_readers), MODEL]
    bundle = bundle_from_tables(
        pd.DataFrame(
            {"item_id": ids, "truth": "A", "n_options": 2, "option_set": "absent or present"}
        ),
        pd.DataFrame({"rater_id": names, "item_id": ids[0], "answer": "A"}),
        pd.DataFrame(
            {
                "rater_id": names,
                "rater_kind": ["reader"] * n_readers + ["model"],
                "level": [("attending", "resident")[i % 2] for i in range(n_readers)] + [""],
                "arm": [("A", "B")[i % 2] for i in range(n_readers)] + [""],
            }
        ),
    )
    return bundle, reading_matrix(bundle)


def _readers(n: int) -> list[str]:
    return [f"R{i + 1:02d}" for i in range(n)]


def _null(label: str, table: pd.DataFrame, **chosen: str) -> Iterator[IntervalOrTest]:
    """Yield the differences of groups whose readers are of one population."""
    for name, value in {**chosen, "by": "overall"}.items():
        table = table[table[name] == value]
    for row in table.to_dict("records"):
        yield interval(f"{label}: {chosen['metric']}", row, 0.0)


def _floats(values: dict[str, Floats]) -> dict[str, float]:
    return {name: float(value) for name, value in values.items()}
