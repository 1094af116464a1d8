"""How far readers' confidence moves towards a model's answer: the table `advice_weight.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Floats
from analysis.bundle.model import Bundle
from analysis.bundle.protocol import protocol_value
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    estimate_of,
    report_table,
    whole_number,
)
from analysis.presentation.wording import cell_number
from analysis.readings.confidence import Meaning, confidence_of
from analysis.readings.matrix import NO_LETTER
from analysis.results import Results
from analysis.statistics.reliance import (
    RELIANCE,
    Pairs,
    PairSums,
    has_aid,
    measure_cells,
    pairs_of,
    rows_by_group,
)
from analysis.statistics.reliance_report import use_header, use_rows
from analysis.statistics.statistic import Column, Method, Source, Statistic
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t

NO_PAIR = (
    "no pair with confidence in which the reader's first answer was different from the model's"
)


def has_advice_weight(study: Study) -> bool:
    """Return whether readers gave their confidence in answers without and with a model's answer."""
    if not has_aid(study):
        return False
    if confidence_of(study.options, study.bundle).meaning is not Meaning.ANSWER:
        return False
    pairs = pairs_of(study)
    return pairs is not None and bool(_is_countable(pairs).any())


def advice_weight(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate the weight that readers give to a model's answer, from their confidence.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; confidence means how sure the reader is of the answer.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns and rows of `reliance`, with the measures `weight_of_advice`,
        `weight_correct_advice` and `weight_wrong_advice`: 0 for readers whose confidence does not
        change, 1 for readers who change to the model's answer with the highest confidence, below 0
        for readers who become more confident in another answer.

    Notes
    -----
    On a scale of k steps, confidence c in the model's answer is an opinion of c / k, confidence c
    in any other answer one of :math:`-c / k`, and the model's own opinion is 1. The weight of
    advice in a pair [1]_ is

    .. math:: (with - without) / (1 - without),

    and the estimate is its mean over the pairs whose answer without the model differed from the
    model's and whose answers both have a confidence. k is the protocol's number of steps, or else
    the largest confidence of any reader. Intervals are computed as in `reliance`.

    References
    ----------
    .. [1] Yaniv I. Receiving other people's advice: influence and benefit. Organ Behav Hum Decis
       Process 2004;93:1-13. doi:10.1016/j.obhdp.2003.08.002

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = advice_weight(
    ...     bundle_from_tables(
    ...         pd.DataFrame({"item_id": list("xy"), "truth": list("AA"), "n_options": 2}),
    ...         pd.DataFrame({
    ...             "rater_id": "R1", "item_id": list("xyxy"), "answer": list("BBAB"),
    ...             "condition": ["unaided"] * 2 + ["aided"] * 2, "confidence": [4, 2, 2, 2],
    ...             "aid_model": ["", "", "M", "M"], "aid_answer": ["", "", "A", "A"],
    ...         }),
    ...     ),
    ...     Options(confidence="answer"),
    ... )
    >>> table[["measure", "n", "estimate"]].values.tolist()[0]
    ['weight_of_advice', 2, 0.375]
    """
    study = study_of(study, options)
    pairs = pairs_of(study)
    rows = [] if pairs is None else list(rows_by_group(study, pairs, _measures))
    return pd.DataFrame(rows, columns=ADVICE_WEIGHT.header)


def _is_countable(pairs: Pairs) -> Bools:
    """Return the pairs with both confidences whose first answer differed from the model's."""
    answered = (pairs.answer_without != NO_LETTER) & (pairs.answer_with != NO_LETTER)
    have_confidence = np.isfinite(pairs.confidence_without) & np.isfinite(pairs.confidence_with)
    countable: Bools = (
        answered
        & have_confidence
        & (pairs.answer_without != pairs.model_answer)
        & (pairs.model_answer != NO_LETTER)
    )
    return countable


def _measures(study: Study, pairs: Pairs, weights: Floats) -> Iterator[dict[str, Any]]:
    countable, steps = _is_countable(pairs), _confidence_steps(study)
    toward = np.where(pairs.answer_with == pairs.model_answer, 1.0, -1.0)
    before = np.where(countable, -pairs.confidence_without / steps, 0.0)
    after = np.where(countable, toward * pairs.confidence_with / steps, 0.0)
    weight = (after - before) / (1 - before)
    truth = study.matrix.truth[pairs.item]
    has_truth, is_advice_correct = truth != NO_LETTER, pairs.model_answer == truth
    for measure, chosen in (
        ("weight_of_advice", countable),
        ("weight_correct_advice", countable & has_truth & is_advice_correct),
        ("weight_wrong_advice", countable & has_truth & ~is_advice_correct),
    ):
        part = PairSums.of(study.matrix, pairs.item, chosen, weight)
        yield measure_cells(study, measure, part, part.estimate, part.resampled(weights), NO_PAIR)


def _confidence_steps(study: Study) -> float:
    """Return the protocol's number of confidence steps, or else the readers' largest confidence."""
    declared = protocol_value(study.bundle.protocol, "confidence")
    if isinstance(declared, int) and declared > 1:
        return float(declared)
    readers = [column.kind == "reader" for column in study.matrix.columns]
    return float(np.nanmax(study.matrix.confidence[:, readers]))


MEASURES = {
    "weight_of_advice": later("all answers of the model"),
    "weight_correct_advice": later("its correct answers"),
    "weight_wrong_advice": later("its wrong answers"),
}


def advice_weight_table(results: Results) -> Iterator[ReportTable]:
    """Show the weight that every reader gives to a model's answers, over all cases."""
    yield report_table(
        name="advice-weight",
        title=t("Weight of a model's answers"),
        note=t(
            "Mean share of the distance to the model's answer, in confidence, by which a reader"
            " who disagreed moved: 0 for none, 1 for all of it, below 0 for moving away."
            " Results by task and arm are in the file."
        ),
        header=use_header(MEASURES),
        rows=use_rows(
            results,
            "advice_weight",
            "weight_of_advice",
            lambda parts: (
                whole_number(cell_number(parts["weight_of_advice"], "n")),
                *(estimate_of(parts[measure]) for measure in MEASURES),
            ),
        ),
    )


ADVICE_WEIGHT = Statistic(
    name="advice_weight",
    meaning="Weight that a reader, or all readers, give to a model's answers, from confidence.",
    columns=tuple(
        Column("n", "Pairs with confidence whose first answer differed from the model's.", "count")
        if column.name == "n"
        else column
        for column in RELIANCE.columns
    ),
    compute=advice_weight,
    applies=has_advice_weight,
    methods={
        616: Method(
            "Readers and a model's answers",
            "The weight of advice is the mean share of the distance to the model's answer, in"
            " confidence, by which readers who disagreed moved [@yaniv2004].",
        )
    },
    sources=(
        Source(
            "weight of advice",
            "Yaniv I. Receiving other people's advice: influence and benefit. Organ Behav Hum Decis"
            " Process 2004;93:1-13.",
            "10.1016/j.obhdp.2003.08.002",
        ),
    ),
    tables={144: advice_weight_table},
)
