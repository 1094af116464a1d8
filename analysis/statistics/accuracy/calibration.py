"""Calibration of models' confidence: `model_calibration.csv` and `model_reliability.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.arrays import Bools, Floats, Ints
from analysis.bundle.model import Bundle, RaterKind
from analysis.figures.drawing.axes import rater_names
from analysis.figures.robustness import model_rows, reliability_chart
from analysis.options import Options
from analysis.presentation.captions import answer_range
from analysis.presentation.table import (
    ReportTable,
    estimate_of,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import cell_number, join_sentences, rows_by
from analysis.readings.clusters import (
    PERCENTILE_METHOD,
    WIDENED_METHOD,
    is_widened,
    percentile_limits,
    ratio,
    reason_too_few,
    weight_blocks,
)
from analysis.readings.confidence import Meaning, confidence_of
from analysis.readings.matrix import NO_LETTER
from analysis.results import Results
from analysis.statistics.accuracy.means import wilson_interval
from analysis.statistics.statistic import Column, Figure, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, localised, t, translated

BRIER, ECE, AUC, OVERCONFIDENCE = ("brier", "ece", "auc_confidence", "overconfidence")
BY_CHANCE = "ece_by_chance"
N_BINS = 10
ALL_CORRECT_OR_INCORRECT = "all of these answers are right, or all are wrong"
SIMULATED = "calibration error of simulated answers that are right as often as confidence says"
NO_RANGE = "interval: resamples are further off than the answers; see ece_by_chance"
ALL_EQUAL = "interval: all confidences are equal"
FEW_RESAMPLES = "interval: too many resamples hold right or wrong answers alone"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnswersWithConfidence:
    """A model's answers that have a confidence; arrays have shape (n_answers,).

    Parameters
    ----------
    confidence : numpy.ndarray of float
        From 0 to 1.
    is_correct : numpy.ndarray of bool
        Whether the answer is that of the reference standard.
    clusters : numpy.ndarray of int
        The patient of each answer.
    """

    confidence: Floats
    is_correct: Bools
    clusters: Ints


def has_model_confidence(study: Study) -> bool:
    """Return whether any model states a confidence from 0 to 1 in its answers."""
    return any(len(answers.is_correct) for _, answers in answers_with_confidence(study))


def model_calibration(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Measure how well a model's confidence in its answers predicts that they are correct.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; `confidence` of a model is a probability.
    options : Options, optional
        Seed, number of resamples, alpha, and what confidence means.

    Returns
    -------
    pandas.DataFrame
        The columns of `MODEL_CALIBRATION`; five rows for each model and condition with confidence:
        `brier` and `ece`, which are 0 at best; `ece_by_chance`, the `ece` of a calibrated model,
        with its range; `auc_confidence`, which is 0.5 if confidence is uninformative;
        `overconfidence`, from -1 to 1, which is above 0 if the model is overconfident.

    Notes
    -----
    Only answers with a confidence to items with a reference standard are counted. `brier` is the
    mean squared difference between confidence and correctness (1 or 0) [1]_. `ece`, the expected
    calibration error [2]_, is the mean absolute difference between mean confidence and accuracy in
    ten bins of equal width, weighted by the number of answers; each bin includes its lower edge,
    the last one both edges. Chance makes it larger than 0, and even larger in resamples, so it has
    no interval. `ece_by_chance` is its mean, with the range of the central 1 - alpha of its values,
    over simulated sets of answers, each correct with a probability equal to its confidence.
    `auc_confidence` is the probability that a correct answer has a higher confidence than an
    incorrect one; ties count half. `overconfidence` is mean confidence minus accuracy. Intervals
    are percentile intervals over resamples of patients if they have several items, otherwise of
    answers.

    References
    ----------
    .. [1] Brier GW. Verification of forecasts expressed in terms of probability. Mon Weather Rev
       1950;78:1-3. doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2
    .. [2] Guo C, Pleiss G, Sun Y, Weinberger KQ. On calibration of modern neural networks. Proc
       Mach Learn Res 2017;70:1321-1330. doi:10.48550/arXiv.1706.04599

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = model_calibration(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": "A"}),
    ...     pd.DataFrame({"rater_id": "M", "item_id": list("wxyz"), "answer": list("AAAB"),
    ...                   "confidence": [0.9, 0.9, 0.4, 0.6]}),
    ...     pd.DataFrame({"rater_id": ["M"], "rater_kind": "model"}),
    ... ), Options(confidence="answer"))
    >>> for row in table[["measure", "n", "estimate"]].values:
    ...     print(row[0], row[1], round(row[2], 4))
    brier 4 0.185
    ece 4 0.35
    ece_by_chance 4 0.3207
    auc_confidence 4 0.6667
    overconfidence 4 -0.05
    """
    study = study_of(study, options)
    rows = [
        {**key, **row}
        for key, answers in answers_with_confidence(study)
        if len(answers.is_correct)
        for row in _measure_rows(study, answers)
    ]
    return pd.DataFrame(rows, columns=MODEL_CALIBRATION.header)


def model_reliability(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Compute accuracy by confidence, for the points of the reliability diagram.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; `confidence` of a model is a probability.
    options : Options, optional
        Alpha, and what confidence means.

    Returns
    -------
    pandas.DataFrame
        The columns of `MODEL_RELIABILITY`; one row for each model, condition and bin of `ece` that
        contains an answer. Intervals are Wilson's.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = model_reliability(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": "A"}),
    ...     pd.DataFrame({"rater_id": "M", "item_id": list("wxyz"), "answer": list("AAAB"),
    ...                   "confidence": [0.9, 1, 0.4, 0.4]}),
    ...     pd.DataFrame({"rater_id": ["M"], "rater_kind": "model"}),
    ... ), Options(confidence="answer"))
    >>> table[["bin_low", "bin_high", "n", "mean_confidence", "accuracy"]].values.tolist()
    [[0.4, 0.5, 2.0, 0.4, 0.5], [0.9, 1.0, 2.0, 0.95, 1.0]]
    """
    study = study_of(study, options)
    rows = [
        {**key, **row}
        for key, answers in answers_with_confidence(study)
        for row in _bin_rows(answers, study.options.alpha)
    ]
    return pd.DataFrame(rows, columns=MODEL_RELIABILITY.header)


def answers_with_confidence(study: Study) -> Iterator[tuple[dict[str, str], AnswersWithConfidence]]:
    """Yield each model and condition, with the model's answers that have a confidence."""
    matrix = study.matrix
    if confidence_of(study.options, study.bundle).meaning is not Meaning.ANSWER:
        return
    for column, reads in enumerate(matrix.columns):
        confidence = matrix.confidence[:, column]
        is_counted = matrix.has_truth & (matrix.answers[:, column] != NO_LETTER)
        is_counted &= np.isfinite(confidence)
        # Steps of a rating scale are not probabilities, so they are not used.
        if reads.kind is RaterKind.MODEL and (np.abs(confidence[is_counted] - 0.5) <= 0.5).all():
            yield (
                {"model_id": reads.rater_id, "condition": reads.condition},
                AnswersWithConfidence(
                    confidence=confidence[is_counted],
                    is_correct=matrix.correct[is_counted, column],
                    clusters=matrix.clusters[is_counted],
                ),
            )


def _measure_rows(study: Study, answers: AnswersWithConfidence) -> Iterator[dict[str, Any]]:
    alpha, clustered = study.options.alpha, study.weights is not None
    n = len(answers.is_correct)
    n_units = np.array(len(np.unique(answers.clusters)) if clustered else n)
    point_estimates = _point_estimates(answers)
    resampled = np.concatenate(
        [
            _estimates(answers, _answer_weights(answers, block, clustered=clustered))
            for block in weight_blocks(study.weights, n, study.options)
        ],
        axis=1,
    )
    limits = percentile_limits(resampled, alpha, np.broadcast_to(n_units, len(MEASURES)))
    method = WIDENED_METHOD if is_widened(n_units) else PERCENTILE_METHOD
    method = method if clustered else method.replace("patients", "answers")
    few = reason_too_few(int(n_units), clustered=clustered)
    for position, measure in enumerate(MEASURES):
        estimate, low, high = (values[position] for values in (point_estimates, *limits[:2]))
        reason = f"interval: {few}" if few else FEW_RESAMPLES if np.isnan(low) else ""
        if np.isnan(estimate):
            reason = ALL_CORRECT_OR_INCORRECT
        elif measure == ECE:
            reason = NO_RANGE
        elif measure == AUC and np.ptp(answers.confidence) == 0:
            reason = ALL_EQUAL
        yield {
            "measure": measure,
            "n": n,
            "estimate": estimate,
            "ci_low": np.nan if reason else low,
            "ci_high": np.nan if reason else high,
            "method": "" if measure == ECE else method,
            "undefined_because": reason,
        }
        if measure == ECE:
            yield {"measure": BY_CHANCE, "n": n, **_chance_cells(study, answers)}


def _chance_cells(study: Study, answers: AnswersWithConfidence) -> dict[str, Any]:
    """Return the calibration error expected from a calibrated model, with its range."""
    rng, n = np.random.default_rng(study.options.seed), len(answers.is_correct)
    indicators = _bin_indicators(answers.confidence)
    resamples = np.array(
        [
            np.abs((answers.confidence - (rng.random(n) < answers.confidence)) @ indicators).sum()
            / n
            for _ in range(study.options.bootstrap)
        ]
    )
    low, high = np.quantile(resamples, [study.options.alpha / 2, 1 - study.options.alpha / 2])
    return {
        "estimate": resamples.mean(),
        "ci_low": low,
        "ci_high": high,
        "method": SIMULATED,
        "undefined_because": "",
    }


def _answer_weights(
    answers: AnswersWithConfidence, weights: npt.NDArray[np.float32], *, clustered: bool
) -> Floats:
    """Return how often each answer is in each resample: as often as its patient, if clustered."""
    return (weights[:, answers.clusters] if clustered else weights).astype(np.float64)


MEASURES = (BRIER, ECE, AUC, OVERCONFIDENCE)


def _estimates(answers: AnswersWithConfidence, weights: Floats) -> Floats:
    """Return the measures in every resample, shape (n_measures, n_resamples)."""
    total = weights.sum(axis=1)
    excess = answers.confidence - answers.is_correct
    indicators = _bin_indicators(answers.confidence) * excess[:, None]
    return np.stack(
        [
            ratio(weights @ excess**2, total),
            ratio(np.abs(weights @ indicators).sum(axis=1), total),
            _auc(answers, weights),
            ratio(weights @ excess, total),
        ]
    )


def _point_estimates(answers: AnswersWithConfidence) -> Floats:
    """Return the measures, shape (n_measures,), from scikit-learn if it has the measure."""
    # Imported only for runs with confidences, because it loads slowly.
    from sklearn.metrics import brier_score_loss, roc_auc_score

    point_estimates = _estimates(answers, np.ones((1, len(answers.is_correct))))[:, 0]
    if len(answers.is_correct):
        point_estimates[MEASURES.index(BRIER)] = brier_score_loss(
            answers.is_correct, answers.confidence, pos_label=True
        )
    if answers.is_correct.any() and not answers.is_correct.all():
        point_estimates[MEASURES.index(AUC)] = roc_auc_score(answers.is_correct, answers.confidence)
    return point_estimates


def _auc(answers: AnswersWithConfidence, weights: Floats) -> Floats:
    """Return the weighted share of pairs whose correct answer has the higher confidence."""
    levels, level = np.unique(answers.confidence, return_inverse=True)
    level_indicators = np.zeros((len(level), len(levels)))
    level_indicators[np.arange(len(level)), level] = 1
    correct, incorrect = (
        (weights * is_included) @ level_indicators
        for is_included in (answers.is_correct, ~answers.is_correct)
    )
    below = incorrect.cumsum(axis=1) - incorrect / 2
    return ratio((correct * below).sum(axis=1), correct.sum(axis=1) * incorrect.sum(axis=1))


def _bin_indicators(confidence: Floats) -> Floats:
    """Return whether each answer is in each bin, shape (n, n_bins)."""
    indicators = np.zeros((len(confidence), N_BINS))
    indicators[np.arange(len(confidence)), _bin_numbers(confidence)] = 1
    return indicators


def _bin_numbers(confidence: Floats) -> Ints:
    # The edges are exact decimals, so that 0.3 is in the bin that begins at 0.3.
    bins: Ints = np.searchsorted(_EDGES, confidence, side="right") - 1
    return np.minimum(bins, N_BINS - 1)


_EDGES = np.array([i / N_BINS for i in range(N_BINS + 1)])


def _bin_rows(answers: AnswersWithConfidence, alpha: float) -> Iterator[dict[str, Any]]:
    position = _bin_numbers(answers.confidence)
    for index in np.unique(position):
        is_in_bin = position == index
        n, n_correct = int(is_in_bin.sum()), int(answers.is_correct[is_in_bin].sum())
        low, high = wilson_interval(np.array(float(n_correct)), np.array(float(n)), alpha)
        yield {
            "bin_low": _EDGES[index],
            "bin_high": _EDGES[index + 1],
            "n": n,
            "mean_confidence": answers.confidence[is_in_bin].mean(),
            "accuracy": n_correct / n,
            "ci_low": float(low),
            "ci_high": float(high),
        }


def reliability_figure(results: Results, condition: str) -> Iterator[Figure]:
    """Show the models' accuracy by their confidence."""
    rows = model_rows(results.tables["model_reliability"], condition, "condition")
    percent = results.options.confidence_percent
    yield Figure(
        "robustness",
        "reliability",
        t("Calibration of models"),
        _reliability_caption(rows, percent) if len(rows) else "",
        reliability_chart(rows, names=rater_names(results.bundle)),
    )


def _reliability_caption(rows: pd.DataFrame, percent: str) -> str:
    """Describe the reliability diagram."""
    return join_sentences(
        [
            t(
                "Percent correct against mean confidence, answers in ten bins of equal width,"
                " {answers} per bin, with {percent} % intervals by Wilson.",
                answers=answer_range(rows["n"]),
                percent=localised(percent),
            ),
            t("Below the dashed line a model is overconfident."),
        ]
    )


MODEL_RELIABILITY = Statistic(
    name="model_reliability",
    meaning="Accuracy of a model's answers in one bin of confidence.",
    columns=(
        *shared_columns("model_id condition"),
        Column("bin_low", "Lower end of the bin.", "proportion"),
        Column("bin_high", "Upper end of the bin.", "proportion"),
        Column("n", "Answers in the bin.", "count"),
        Column("mean_confidence", "Mean confidence of these answers.", "proportion"),
        Column("accuracy", "Share of correct answers in the bin.", "proportion"),
        *shared_columns("ci_low ci_high"),
    ),
    compute=model_reliability,
    applies=has_model_confidence,
    figures={110: reliability_figure},
)
_MEASURE_NAMES = {
    BRIER: later("Brier score"),
    ECE: later("Calibration error"),
    BY_CHANCE: later("By chance"),
    AUC: "AUC",
    OVERCONFIDENCE: later("Overconfidence"),
}


def calibration_table(results: Results) -> Iterator[ReportTable]:
    """Show the calibration of each model's confidence."""
    names = rater_names(results.bundle)
    models = rows_by(results, "model_calibration", ("model_id", "condition"), of="measure")
    yield report_table(
        name="model-calibration",
        title=t("Confidence and accuracy of models"),
        note=t(
            "Over the answers with a confidence. Brier score and calibration error (ten bins) are"
            " 0 at best; “by chance” is the error of a calibrated model with as many answers; the"
            " AUC is the chance that a correct answer has the higher confidence than an incorrect"
            " one; overconfidence is mean confidence minus accuracy."
        ),
        header=(t("Model"), "n", *map(translated, _MEASURE_NAMES.values())),
        rows=[
            (
                (rater_name(names, model),),
                (
                    whole_number(cell_number(row_by_measure[BRIER], "n")),
                    *(estimate_of(row_by_measure[measure]) for measure in _MEASURE_NAMES),
                ),
            )
            for (model, _), row_by_measure in models.items()
        ],
    )


MODEL_CALIBRATION = Statistic(
    name="model_calibration",
    meaning="Calibration of a model's confidence, by one measure.",
    columns=(
        *shared_columns(
            "model_id condition measure n estimate ci_low ci_high method undefined_because"
        ),
    ),
    compute=model_calibration,
    applies=has_model_confidence,
    tables={194: calibration_table},
)
