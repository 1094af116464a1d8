"""Calibration slope and intercept of models' confidence: the table `model_recalibration.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logit
from scipy.stats import norm

from analysis.bundle.model import Bundle
from analysis.figures.drawing.axes import rater_names
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    estimate_of,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import cell_number, rows_by
from analysis.readings.clusters import reason_too_few
from analysis.results import Results
from analysis.statistics.accuracy.calibration import (
    ALL_CORRECT_OR_INCORRECT,
    AnswersWithConfidence,
    answers_with_confidence,
    has_model_confidence,
)
from analysis.statistics.statistic import Method, Source, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import t

SLOPE, INTERCEPT = "slope", "intercept"
NO_LOGIT = "a confidence is 0 or 1, which has no logit"
ALL_EQUAL = "all confidences are equal"
NO_MAXIMUM = "confidence separates right from wrong answers, so the fit has no maximum"
METHOD = "logistic regression, Wald interval with standard errors over"


def model_recalibration(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate the calibration slope and intercept of every model's confidence.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; `confidence` of a model is a probability.
    options : Options, optional
        Alpha, and what confidence means.

    Returns
    -------
    pandas.DataFrame
        The columns of `MODEL_RECALIBRATION`; for each model and condition, a row for `slope` and
        one for `intercept`.

    Notes
    -----
    Let c be the confidence in an answer. `slope` is b in logit P(correct) = a + b logit(c); it is 1
    for a calibrated model and below 1 for one whose confidences are too extreme. `intercept` is a
    in logit P(correct) = a + logit(c); it is 0 for a calibrated model and below 0 for an
    overconfident one [1]_. Both are fitted by statsmodels' `GLM`; standard errors are sandwich
    estimates over patients, or over answers if every patient has one item. Both are undefined if
    any confidence is 0 or 1.

    References
    ----------
    .. [1] Van Calster B, McLernon DJ, van Smeden M, Wynants L, Steyerberg EW. Calibration: the
       Achilles heel of predictive analytics. BMC Med 2019;17:230. doi:10.1186/s12916-019-1466-7
    """
    study = study_of(study, options)
    rows = [
        {**names, **row}
        for names, answers in answers_with_confidence(study)
        if len(answers.is_correct)
        for row in _measure_rows(study, answers)
    ]
    return pd.DataFrame(rows, columns=MODEL_RECALIBRATION.header)


def _measure_rows(study: Study, answers: AnswersWithConfidence) -> Iterator[dict[str, Any]]:
    clustered = study.matrix.clustered
    for measure in (SLOPE, INTERCEPT):
        reason = _undefined_reason(answers, measure)
        estimate, se = (np.nan, np.nan) if reason else _fit_estimate(answers, measure, clustered)
        few = "" if reason else reason_too_few(_n_units(answers, clustered), clustered=clustered)
        half_width = float(norm.isf(study.options.alpha / 2)) * (np.nan if few else se)
        yield {
            "measure": measure,
            "n": len(answers.is_correct),
            "estimate": estimate,
            "se": np.nan if few else se,
            "ci_low": estimate - half_width,
            "ci_high": estimate + half_width,
            "method": f"{METHOD} {'patients' if clustered else 'answers'}",
            "undefined_because": f"standard error and interval: {few}" if few else reason,
        }


def _n_units(answers: AnswersWithConfidence, clustered: bool) -> int:
    return len(np.unique(answers.clusters)) if clustered else len(answers.is_correct)


def _undefined_reason(answers: AnswersWithConfidence, measure: str) -> str:
    correct, incorrect = (
        answers.confidence[answers.is_correct],
        answers.confidence[~answers.is_correct],
    )
    if not len(correct) or not len(incorrect):
        return ALL_CORRECT_OR_INCORRECT
    if answers.confidence.min() <= 0 or answers.confidence.max() >= 1:
        return NO_LOGIT
    if measure == INTERCEPT:
        return ""
    if np.ptp(answers.confidence) == 0:
        return ALL_EQUAL
    return (
        NO_MAXIMUM if correct.min() >= incorrect.max() or incorrect.min() >= correct.max() else ""
    )


def _fit_estimate(
    answers: AnswersWithConfidence, measure: str, clustered: bool
) -> tuple[float, float]:
    """Return the estimate and its standard error."""
    # Imported here, because only runs with confidences need it.
    from statsmodels.api import GLM, families

    logits = logit(answers.confidence)
    ones = np.ones_like(logits)
    design = np.column_stack([logits, ones]) if measure == SLOPE else ones[:, None]
    offset = None if measure == SLOPE else logits
    model = GLM(answers.is_correct.astype(float), design, family=families.Binomial(), offset=offset)
    groups = answers.clusters if clustered else np.arange(len(logits))
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": groups})
    return float(fit.params[0]), float(fit.bse[0])


def recalibration_table(results: Results) -> Iterator[ReportTable]:
    """Show the calibration slope and intercept of every model."""
    names = rater_names(results.bundle)
    by_model = rows_by(results, "model_recalibration", ("model_id", "condition"), of="measure")
    yield report_table(
        name="model-recalibration",
        title=t("Calibration of models' confidence"),
        note=t(
            "Slope: 1 at best, below 1 if confidences are too extreme. Intercept: 0 at best, below"
            " 0 if the model is too confident."
        ),
        header=(t("Model"), "n", t("Slope"), t("Intercept")),
        rows=[
            (
                (rater_name(names, model),),
                (
                    whole_number(cell_number(rows[SLOPE], "n")),
                    estimate_of(rows[SLOPE]),
                    estimate_of(rows[INTERCEPT]),
                ),
            )
            for (model, _), rows in by_model.items()
        ],
    )


MODEL_RECALIBRATION = Statistic(
    name="model_recalibration",
    meaning="Calibration slope or intercept of a model's confidence.",
    columns=(
        *shared_columns(
            "model_id condition measure n estimate se ci_low ci_high method undefined_because"
        ),
    ),
    compute=model_recalibration,
    applies=has_model_confidence,
    methods={
        597: Method(
            "Confidence of models",
            "Calibration slope and intercept are those of logistic regression of correctness on"
            " the logit of confidence [@calster2019].",
        )
    },
    sources=(
        Source(
            "calibration slope and intercept",
            "Van Calster B, McLernon DJ, van Smeden M, Wynants L, Steyerberg EW. Calibration: the"
            " Achilles heel of predictive analytics. BMC Med 2019;17:230.",
            "10.1186/s12916-019-1466-7",
        ),
    ),
    tables={196: recalibration_table},
)
