"""How readers use a model's answers: the table `reliance.csv`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.arrays import Bools, Floats, Ints
from analysis.bundle.model import LETTER_POSITIONS, Bundle
from analysis.options import Options
from analysis.readings.clusters import (
    PERCENTILE_METHOD,
    WIDENED_METHOD,
    is_widened,
    percentile_limits,
    ratio,
    reason_too_few,
    resample_weights,
    sums_by_cluster,
)
from analysis.readings.matrix import NO_LETTER, ReadingMatrix, cells_of, first_readings
from analysis.statistics.agreement.between import OVER_ITEMS
from analysis.statistics.reliance_report import (
    AIDED,
    ALL_READERS,
    reliance_figures,
    reliance_table,
)
from analysis.statistics.statistic import Column, Method, Source, Statistic, shared_columns
from analysis.statistics.study import Study, study_of

UNAIDED = "unaided"
AFTER_READING = "after"
FEW_RESAMPLES = "interval: defined in fewer than 80 % of the resamples"

NO_PAIR_REASONS = {
    "differed": "the reader's first answer was never different from the model's",
    "corrected": "no pair was wrong without and had a correct answer of the model",
    "misled": "no pair was correct without and had a wrong answer of the model",
    "wrong_aid": "no pair had a wrong answer of the model",
    "judged": "no pair with a reference standard",
    "all": "no pair of readings without and with the model's answer",
}


def has_aid(study: Study) -> bool:
    """Return whether any reading was made with a model's answer."""
    return bool((study.bundle.readings["aid_answer"] != "").any())


def reliance(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Estimate how readers use a model's answers, over pairs of readings without and with them.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; readings in the condition `aided` have `aid_answer`.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `RELIANCE`. Estimates are proportions from 0 to 1, differences of proportions
        from -1 to 1. One row per reader (and `readers` for all pairs together), model, time at
        which its answer was shown, kind of pairs by planted errors, group and measure.

    Notes
    -----
    A pair is a reader's readings of an item under `unaided` and `aided`, which are the two stages
    in sequential reading. Readings for which the model's answer was not shown are in no pair.
    `corrected` is the relative AI reliance of Schemmer et al. [1]_, and 1 minus `misled` is their
    relative self-reliance. A missing answer is incorrect and differs from any answer of the model.
    Intervals are percentile intervals over resampled patients, or over items if every patient has
    only one.

    References
    ----------
    .. [1] Schemmer M, Kuehl N, Benz C, Bartos A, Satzger G. Appropriate reliance on AI advice:
       conceptualization and the effect of explanations. IUI 2023:410-422.
       doi:10.1145/3581641.3584066

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = reliance(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": list("AAAA"), "n_options": 2}),
    ...     pd.DataFrame({
    ...         "rater_id": "R1", "item_id": list("wxyz") * 2, "answer": list("ABBA" "AABB"),
    ...         "condition": ["unaided"] * 4 + ["aided"] * 4, "aid_model": [""] * 4 + ["M"] * 4,
    ...         "aid_answer": [""] * 4 + list("AAAB"),
    ...     }),
    ... ))
    >>> chosen = table[(table["rater_id"] == "R1") & (table["planted"] == "all")]
    >>> dict(zip(chosen["measure"], chosen["estimate"]))["corrected"]
    0.5
    """
    study = study_of(study, options)
    pairs = pairs_of(study)
    rows = [] if pairs is None else list(rows_by_group(study, pairs, _measures))
    return pd.DataFrame(rows, columns=RELIANCE.header)


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """Pairs of readings without and with a model's answer; every array has one entry per pair.

    Parameters
    ----------
    item : numpy.ndarray of int
        Position of the item in the matrix.
    answer_without, answer_with, model_answer : numpy.ndarray of int
        The answers: 0 for A, 1 for B, ...; -1 for none.
    planted : numpy.ndarray of bool
        Whether the model's answer was replaced by an incorrect one.
    confidence_without, confidence_with : numpy.ndarray of float
        The confidence in the answers; nan if there is none.
    rater, model, aid_time, arm : numpy.ndarray of str
        The reader, the model, the time at which its answer was shown, and the reader's arm.
    """

    item: Ints
    answer_without: Ints
    answer_with: Ints
    model_answer: Ints
    planted: Bools
    confidence_without: Floats
    confidence_with: Floats
    rater: npt.NDArray[np.object_]
    model: npt.NDArray[np.object_]
    aid_time: npt.NDArray[np.object_]
    arm: npt.NDArray[np.object_]

    def where(self, chosen: Bools | Ints) -> Pairs:
        """Return the chosen pairs; if `chosen` has positions, the pairs are in their order."""
        return Pairs(**{each.name: getattr(self, each.name)[chosen] for each in fields(self)})


def pairs_of(study: Study) -> Pairs | None:
    """Return the pairs of readings without and with a model's answer; None if there is none.

    They are in order of reader and item.
    """
    matrix, readings = study.matrix, first_readings(study.bundle.readings)
    aided = readings[(readings["condition"] == AIDED) & (readings["aid_answer"] != "")]
    if (aided["aid_shown_ms"].astype(str) != "").any():
        aided = aided[aided["aid_shown_ms"].astype(str) != ""]
    places = {(each.rater_id, each.condition): i for i, each in enumerate(matrix.columns)}
    aided = aided[[(rater, UNAIDED) in places for rater in aided["rater_id"]]]
    if not len(aided):
        return None
    item, column = cells_of(aided, matrix.item_ids, matrix.columns)
    before = np.array([places[rater, UNAIDED] for rater in aided["rater_id"]], dtype=np.int64)
    presented_twice = matrix.presented[item, before] & matrix.presented[item, column]
    arms = dict(zip(study.bundle.raters["rater_id"], study.bundle.raters["arm"], strict=True))
    time_by_arm = _aid_times(study.bundle)
    raters = aided["rater_id"].to_numpy(dtype=object)
    stage = aided["stage"].astype(str).to_numpy()
    pairs = Pairs(
        item=item,
        answer_without=matrix.answers[item, before].astype(np.int64),
        answer_with=matrix.answers[item, column].astype(np.int64),
        model_answer=np.array(
            [LETTER_POSITIONS.get(cell, NO_LETTER) for cell in aided["aid_answer"]], dtype=np.int64
        ),
        confidence_without=matrix.confidence[item, before],
        confidence_with=matrix.confidence[item, column],
        planted=(aided["aid_planted"].astype(str) == "1").to_numpy(dtype=np.bool_),
        rater=raters,
        model=aided["aid_model"].to_numpy(dtype=object),
        aid_time=np.array(
            [
                AFTER_READING
                if stage == "2"
                else time_by_arm.get(arms.get(rater, ""), time_by_arm[""])
                for rater, stage in zip(raters, stage, strict=True)
            ],
            dtype=object,
        ),
        arm=np.array([arms.get(rater, "") for rater in raters], dtype=object),
    ).where(presented_twice)
    return (
        pairs.where(np.lexsort((pairs.item, pairs.rater.astype(str)))) if len(pairs.item) else None
    )


def _aid_times(bundle: Bundle) -> dict[str, str]:
    """Return when the model's answer is shown, by arm; the key "" is for readers without an arm."""
    default_aid = str(bundle.protocol.get("aid", "first"))
    arms = bundle.protocol.get("arms", [])
    aid_of_arm = {str(arm.get("name", "")): str(arm.get("aid", "") or default_aid) for arm in arms}
    return {"": default_aid, **aid_of_arm}


Measures = Callable[[Study, Pairs, Floats], Iterator[dict[str, Any]]]
"""Function of a study, pairs and resamples that yields the cells of every measure."""


def rows_by_group(study: Study, pairs: Pairs, measures: Measures) -> Iterator[dict[str, Any]]:
    """Yield the rows for every reader, model, time of display, kind of pairs, group and measure."""
    matrix = study.matrix
    weights = study.weights
    if weights is None:
        options = study.options
        weights = resample_weights(matrix.n_clusters, options.bootstrap, options.seed)
    kinds = sorted({*zip(pairs.model, pairs.aid_time, strict=True)})
    for rater in [*sorted({*pairs.rater}), ALL_READERS]:
        for model, time in kinds:
            is_of_kind = (pairs.model == model) & (pairs.aid_time == time)
            of_rater = pairs.where(is_of_kind & ((pairs.rater == rater) | (rater == ALL_READERS)))
            if not len(of_rater.item):
                continue
            for planted in ("all", "yes", "no"):
                chosen = of_rater.where(_is_planted(of_rater, planted))
                for by, group, part in _groups(matrix, of_rater, chosen, rater):
                    key = {
                        "rater_id": rater,
                        "aid_model": model,
                        "aid": time,
                        "planted": planted,
                        "by": by,
                        "group": group,
                    }
                    for cells in measures(study, part, weights):
                        yield {**key, **cells}


def _is_planted(pairs: Pairs, planted: str) -> Bools:
    if planted == "all":
        return np.ones(len(pairs.item), dtype=np.bool_)
    return pairs.planted if planted == "yes" else ~pairs.planted


def _groups(
    matrix: ReadingMatrix, pairs: Pairs, chosen: Pairs, rater: str
) -> Iterator[tuple[str, str, Pairs]]:
    """Yield a rater's pairs: all, those of each task, and for all readers those of each arm."""
    yield "overall", "micro", chosen
    tasks = matrix.groups["task"]
    for task in sorted({str(task) for task in tasks[pairs.item] if task}):
        yield "task", task, chosen.where(tasks[chosen.item] == task)
    if rater == ALL_READERS:
        for arm in sorted({str(arm) for arm in pairs.arm if arm}):
            yield "arm", arm, chosen.where(chosen.arm == arm)


def _measures(study: Study, pairs: Pairs, weights: Floats) -> Iterator[dict[str, Any]]:
    """Yield the cells of every measure over these pairs."""
    truth = study.matrix.truth[pairs.item].astype(np.int64)
    has_truth = truth != NO_LETTER
    correct_before, correct_after = pairs.answer_without == truth, pairs.answer_with == truth
    correct_aid = pairs.model_answer == truth
    differed = pairs.answer_without != pairs.model_answer
    took_model_answer = pairs.answer_with == pairs.model_answer
    all_items = np.ones(len(truth), dtype=np.bool_)
    correctable = has_truth & ~correct_before & correct_aid
    misleadable = has_truth & correct_before & ~correct_aid
    gain = correct_after.astype(np.float64) - correct_before
    definitions: dict[str, tuple[Bools, Any, str]] = {
        "aid_correct": (has_truth, correct_aid, "judged"),
        "agreed_before": (all_items, ~differed, "all"),
        "switched": (differed, took_model_answer, "differed"),
        "corrected": (correctable, correct_after, "corrected"),
        "misled": (misleadable, ~correct_after, "misled"),
        "resisted": (misleadable, correct_after, "misled"),
        "changed_elsewhere": (
            differed,
            ~took_model_answer & (pairs.answer_with != pairs.answer_without),
            "differed",
        ),
        "accuracy_without": (has_truth, correct_before, "judged"),
        "accuracy_with": (has_truth, correct_after, "judged"),
        "accuracy_aid": (has_truth, correct_aid, "judged"),
        "gain": (has_truth, gain, "judged"),
        "complementarity": (has_truth, correct_after, "judged"),
        "automation_bias": (has_truth & ~correct_aid, -gain, "wrong_aid"),
    }
    parts = {
        name: PairSums.of(study.matrix, pairs.item, chosen, np.asarray(values, dtype=np.float64))
        for name, (chosen, values, _) in definitions.items()
    }
    estimates = {name: part.estimate for name, part in parts.items()}
    resampled = {name: part.resampled(weights) for name, part in parts.items()}
    estimates["complementarity"] = _complementarity(estimates)
    resampled["complementarity"] = _complementarity(resampled)
    for name, (_, _, reason) in definitions.items():
        yield measure_cells(
            study, name, parts[name], estimates[name], resampled[name], NO_PAIR_REASONS[reason]
        )


def _complementarity(values: Mapping[str, Any]) -> Any:
    best_alone = np.maximum(values["accuracy_without"], values["accuracy_aid"])
    return values["accuracy_with"] - best_alone


@dataclass(frozen=True, kw_only=True, eq=False)
class PairSums:
    """The pairs that a measure counts, summed by cluster.

    Parameters
    ----------
    n : int
        Number of pairs.
    sums : numpy.ndarray of float, shape (n_present, 2)
        Sum of the values, and number of pairs, for each cluster in `present`.
    present : numpy.ndarray of int, shape (n_present,)
        The clusters that have such pairs.
    """

    n: int
    sums: Floats
    present: Ints

    @classmethod
    def of(cls, matrix: ReadingMatrix, item: Ints, chosen: Bools, values: Floats) -> PairSums:
        """Sum the values of the chosen pairs by cluster; the items may be in any order."""
        order = np.argsort(item[chosen], kind="stable")  # clusters ascend with the items
        columns = np.stack([values[chosen], np.ones(int(chosen.sum()))], axis=1)
        sums, present = sums_by_cluster(columns[order], matrix.clusters[item[chosen]][order])
        return cls(n=int(chosen.sum()), sums=sums, present=present)

    @property
    def estimate(self) -> float:
        """The mean value; nan without a pair."""
        return float(self.sums[:, 0].sum() / self.n) if self.n else np.nan

    def resampled(self, weights: Floats) -> Floats:
        """Return the mean value in each resample of clusters."""
        resampled_sums = weights[:, self.present] @ self.sums
        return ratio(resampled_sums[:, 0], resampled_sums[:, 1])


def measure_cells(
    study: Study, measure: str, part: PairSums, estimate: float, resampled: Floats, empty: str
) -> dict[str, Any]:
    """Return the cells of a measure with its interval; `empty` is the reason if it has no pairs."""
    n_units = len(part.present)
    cells = {"measure": measure, "n": part.n, "estimate": estimate, "method": ""}
    if not part.n:
        return {**cells, "ci_low": np.nan, "ci_high": np.nan, "undefined_because": empty}
    units = np.array(n_units)
    low, high, _ = percentile_limits(resampled, study.options.alpha, units)
    reason = reason_too_few(n_units, clustered=study.matrix.clustered)
    if reason:
        reason = f"interval: {reason}"
    elif np.isnan(low):
        reason = FEW_RESAMPLES
    interval_method = PERCENTILE_METHOD if study.matrix.clustered else OVER_ITEMS
    widened = study.matrix.clustered and bool(is_widened(units))
    return {
        **cells,
        "ci_low": float(low),
        "ci_high": float(high),
        "method": "" if np.isnan(low) else WIDENED_METHOD if widened else interval_method,
        "undefined_because": reason,
    }


RELIANCE = Statistic(
    name="reliance",
    meaning="How a reader, or all readers, use a model's answers, by one measure.",
    columns=(
        Column("rater_id", "Reader; `readers` for all pairs together."),
        Column("aid_model", "Model whose answers were shown."),
        Column("aid", "When the model's answer was shown: `first`, `on demand` or `after`."),
        Column("planted", "Pairs: `all`, those with a planted error (`yes`), the others (`no`)."),
        Column("by", "Grouping: `overall`, `task` or `arm`."),
        *shared_columns("group measure"),
        Column("n", "Pairs of readings that count.", "count"),
        *shared_columns("estimate ci_low ci_high method undefined_because"),
    ),
    compute=reliance,
    applies=has_aid,
    methods={
        615: Method(
            "Readers and a model's answers",
            "Reliance on the model is estimated over pairs of a reader's readings of an item"
            " without and with its answer: how often a different answer was changed to the"
            " model's, wrong answers were corrected by a correct one, and correct answers were"
            " changed to a wrong one [@schemmer2023]; percentile intervals over resampled"
            " patients.",
        )
    },
    sources=(
        Source(
            "relative AI reliance and relative self-reliance",
            "Schemmer M, Kuehl N, Benz C, Bartos A, Satzger G. Appropriate reliance on AI advice:"
            " conceptualization and the effect of explanations. Proc Int Conf Intell User"
            " Interfaces 2023:410-422.",
            "10.1145/3581641.3584066",
        ),
    ),
    tables={142: reliance_table},
    figures={45: reliance_figures},
)
