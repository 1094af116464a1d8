"""Free-text answers with their scores, and models' answers as parsed by other sets of rules."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.bundle.model import RULE_SETS, SCORE_VALUES, Bundle, RaterKind, Status
from analysis.bundle.primary import natural_sort_key
from analysis.bundle.protocol import drops_excluded
from analysis.readings.matrix import ReadingMatrix, reading_matrix

ANSWER = "answer"
SCORED_ITEMS = "scored_items"
COLUMNS = ("kind", "rater_id", "rater_kind", "condition", "item", "missing", "value")
GROUP_COLUMNS = ["kind", "rater_id", "condition"]


def final_scores(scores: pd.DataFrame) -> pd.Series[float]:
    """Return the value of each answer with a final score, by `answer_id`.

    Parameters
    ----------
    scores : pandas.DataFrame
        The checked scores: `answer_id`, `turn` and `score`.

    Returns
    -------
    pandas.Series of float
        1, 0.5 or 0: the score of the two blind scorers (turns 1 and 2) if they agree; otherwise the
        median of three scores, which is the score that two scorers gave, or `partly correct` if all
        three differ.

    Examples
    --------
    >>> final_scores(pd.DataFrame({
    ...     "answer_id": list("aabbbccc"), "turn": [1, 2, 1, 2, 3, 1, 2, 3],
    ...     "score": ["correct", "correct", "correct", "incorrect", "incorrect",
    ...               "incorrect", "partly correct", "correct"],
    ... })).to_dict()
    {'a': 1.0, 'b': 0.0, 'c': 0.5}
    """
    values = scores.assign(value=scores["score"].map(SCORE_VALUES).astype(float))
    by_turn = values.pivot(index="answer_id", columns="turn", values="value")
    by_turn = by_turn.reindex(columns=[1, 2, 3])
    first, second, third = (by_turn[turn] for turn in (1, 2, 3))
    differ = (first != second) & first.notna() & second.notna()
    middle = by_turn.median(axis=1).where(third.notna())
    return first.where(second.notna()).where(~differ, middle).dropna()


def counted_answers(bundle: Bundle, matrix: ReadingMatrix) -> pd.DataFrame:
    """Return the free-text answers and explanations that count, with their values.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    matrix : ReadingMatrix
        The readings of the bundle as arrays.

    Returns
    -------
    pandas.DataFrame
        Columns `kind, rater_id, rater_kind, condition, item, missing, value`, readers first.
        `item` is a position in the matrix; `value` is 1, 0.5 or 0, or nan if there is no score.

    Notes
    -----
    A missing answer is incorrect. Of a model's runs, only the first counts, and every item with a
    reference standard that it did not answer is a missing answer. If the items to be scored were
    drawn at random (`scored_items` in `datapackage.json`), answers to other items do not count,
    even if they are missing; otherwise missing answers would count against a rater while the other
    answers are not scored. Excluded readings are dropped if the protocol says so.
    """
    answers, runs = bundle.open_answers, bundle.open_answers["run"]
    places = runs.map({run: i for i, run in enumerate(sorted(set(runs), key=natural_sort_key))})
    answers = answers.loc[
        places == places.groupby([answers[c] for c in GROUP_COLUMNS]).transform("min")
    ]
    value = answers["answer_id"].map(final_scores(bundle.open_scores)).astype(float)
    explains = (answers["kind"] != ANSWER) & (answers["words"] != "")
    rows = pd.DataFrame(
        {
            **{column: answers[column] for column in COLUMNS[:4]},
            "item": pd.Index(matrix.item_ids).get_indexer(pd.Index(answers["item_id"])),
            "missing": (answers["status"] != Status.ANSWERED) & ~explains & value.isna(),
            "value": value,
            "excluded": answers["excluded"] != "",
        }
    )
    rows = pd.concat([rows, *_missing_answers(rows, matrix)], ignore_index=True)
    rows = rows.astype({"missing": bool, "excluded": bool})
    if drops_excluded(bundle.protocol):
        rows = rows.loc[~rows["excluded"]]
    drawn = bundle.about.get(SCORED_ITEMS) or {}
    is_dropped = pd.Series(False, index=rows.index)
    for kind, chosen in drawn.items():
        is_in = np.isin(matrix.item_ids, [str(item_id) for item_id in chosen])
        is_dropped |= (rows["kind"] == kind) & ~is_in[rows["item"].to_numpy()]
    rows["value"] = rows["value"].where(~rows["missing"], 0.0).mask(is_dropped)
    order = ["kind", "is_model", "rater_id", "condition", "item"]
    is_model = rows["rater_kind"] == RaterKind.MODEL
    return rows.assign(is_model=is_model).sort_values(order, ignore_index=True)[[*COLUMNS]]


def _missing_answers(answers: pd.DataFrame, matrix: ReadingMatrix) -> list[pd.DataFrame]:
    """Return a missing answer for each item with a truth that a model did not answer."""
    models = answers.loc[(answers["rater_kind"] == RaterKind.MODEL) & (answers["kind"] == ANSWER)]
    return [
        pd.DataFrame(
            {
                **dict(zip(GROUP_COLUMNS, key, strict=True)),
                "rater_kind": RaterKind.MODEL.value,
                "item": missing_items,
                "missing": True,
                "value": np.nan,
                "excluded": False,
            }
        )
        for key, rows in models.groupby(GROUP_COLUMNS)
        if len(missing_items := np.setdiff1d(np.flatnonzero(matrix.has_truth), rows["item"]))
    ]


ANALYSIS_NAMES = {rules: f"model answers read by {rules} rules" for rules in RULE_SETS}
"""The name of the analysis for each set of rules."""


def matrices_by_rules(bundle: Bundle) -> dict[str, ReadingMatrix]:
    """Return the readings as parsed by each set of rules that changes an answer.

    Returns
    -------
    dict of str to ReadingMatrix
        The matrices by the names in `ANALYSIS_NAMES`.

    Examples
    --------
    >>> import pandas as pd
    >>> from analysis.bundle import bundle_from_tables
    >>> bundle = bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1"]}),
    ...     pd.DataFrame({"rater_id": "M", "item_id": ["q1"], "answer": "A"}),
    ... )
    >>> read = bundle.readings.assign(strict="unparsed", standard="A", loose="A")
    >>> for name, matrix in matrices_by_rules(replace(bundle, readings=read)).items():
    ...     print(name, matrix.answers.tolist())
    model answers read by strict rules [[-1]]
    """
    matrices, readings = {}, bundle.readings
    for rules in RULE_SETS:
        if rules not in readings:
            continue
        words = readings[rules]
        is_status = words.isin([status.value for status in Status])
        primary = readings["answer"].where(readings["answer"] != "", readings["status"])
        differs = (words != "") & (words != primary)
        if not differs.any():
            continue
        reread = readings.assign(
            answer=readings["answer"].mask(differs, words.mask(is_status, "")),
            status=readings["status"].mask(differs, words.where(is_status, Status.ANSWERED.value)),
        )
        matrices[ANALYSIS_NAMES[rules]] = reading_matrix(replace(bundle, readings=reread))
    return matrices
