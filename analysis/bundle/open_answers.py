"""Checking `open_answers.csv` and `open_scores.csv`: answers in words, and how they were scored."""

from __future__ import annotations

import pandas as pd

from analysis.bundle.faults import (
    TWICE,
    as_known,
    each_distinct,
    faults_among,
    faults_where,
    with_columns,
)
from analysis.bundle.model import (
    OPEN_ANSWER_COLUMNS,
    OPEN_KINDS,
    OPEN_SCORE_COLUMNS,
    SCORES,
    WRITTEN_STATUSES,
    Status,
)
from analysis.errors import Fault

ANSWERS, GIVEN = "open_answers.csv", "open_scores.csv"
_KEY = ["kind", "rater_id", "item_id", "condition", "run"]
_TURNS = ("1", "2", "3")


def check_open_answers(
    table: pd.DataFrame, items: pd.DataFrame, raters: pd.DataFrame
) -> tuple[pd.DataFrame, list[Fault]]:
    """Check the answers in words against the items and the raters.

    Without a status, an answer with words is `answered` and one without is `skipped`; its
    `rater_kind` is that of its rater.
    """
    found = with_columns(table, OPEN_ANSWER_COLUMNS)
    for column in ("answer_id", *_KEY, "status"):
        found[column] = each_distinct(found[column], str.strip)
    found["item_id"] = as_known(found["item_id"], items["item_id"])
    found["rater_id"] = as_known(found["rater_id"], raters["rater_id"])
    said = [Status.ANSWERED if words.strip() else Status.SKIPPED for words in found["words"]]
    status = [given or silent.value for given, silent in zip(found["status"], said, strict=True)]
    found["status"] = pd.Series(status, index=found.index, dtype=object)
    for column in ("flags", "excluded"):
        found[column] = each_distinct(found[column], lambda cell: " ".join(cell.split()))
    kinds = raters.drop_duplicates("rater_id").set_index("rater_id")["rater_kind"]
    found["rater_kind"] = found["rater_id"].map(kinds).fillna("")
    known = set(items["item_id"])
    faults = [
        *_named_once(found),
        *faults_among(
            ANSWERS,
            found,
            "kind",
            lambda cell: cell not in OPEN_KINDS,
            lambda r: f"kind {r['kind']!r} is unknown",
            f"Write one of {', '.join(OPEN_KINDS)}",
        ),
        *faults_among(
            ANSWERS,
            found,
            "item_id",
            lambda cell: cell not in known,
            lambda r: f"item_id {r['item_id']!r} is not in items.csv",
            "Add the item or remove the answer",
        ),
        *faults_where(
            ANSWERS,
            found,
            found["rater_kind"] == "",
            lambda r: f"rater_id {r['rater_id']!r} is not among the raters",
            "Add the rater to raters.csv or remove the answer",
        ),
        *faults_among(
            ANSWERS,
            found,
            "status",
            lambda cell: cell not in WRITTEN_STATUSES,
            lambda r: f"status {r['status']!r} is unknown",
            f"Write one of {', '.join(WRITTEN_STATUSES)}",
        ),
        *faults_where(
            ANSWERS,
            found,
            found.duplicated(_KEY),
            lambda r: f"{r['item_id']!r} by {r['rater_id']!r} {TWICE}",
            "Keep one of the rows",
        ),
    ]
    return found[[*OPEN_ANSWER_COLUMNS]], faults


def check_open_scores(
    table: pd.DataFrame, answers: pd.DataFrame
) -> tuple[pd.DataFrame, list[Fault]]:
    """Check the scores against the answers they are of; `turn` becomes a whole number."""
    found = with_columns(table, OPEN_SCORE_COLUMNS)
    for column in ("answer_id", "scorer", "turn", "score"):
        found[column] = each_distinct(found[column], str.strip)
    explains = answers["kind"] == OPEN_KINDS[1]  # whatever became of the answer it explains
    words = set(answers.loc[(answers["status"] == Status.ANSWERED) | explains, "answer_id"])
    faults = [
        *faults_among(
            GIVEN,
            found,
            "answer_id",
            lambda cell: cell not in words,
            lambda r: f"answer_id {r['answer_id']!r} is no answered row of {ANSWERS}",
            "Add the answer or remove the score",
        ),
        *faults_among(
            GIVEN,
            found,
            "scorer",
            lambda cell: not cell,
            lambda r: "scorer is empty",
            "Give the scorer's code, such as S1",
        ),
        *faults_among(
            GIVEN,
            found,
            "turn",
            lambda cell: cell not in _TURNS,
            lambda r: f"turn {r['turn']!r} is none",
            "Write 1 or 2 for the two blind scores, and 3 for the one where these differ",
        ),
        *faults_among(
            GIVEN,
            found,
            "score",
            lambda cell: cell not in SCORES,
            lambda r: f"score {r['score']!r} is unknown",
            f"Write one of {', '.join(SCORES)}",
        ),
        *faults_where(
            GIVEN,
            found,
            found.duplicated(["answer_id", "turn"]) | found.duplicated(["answer_id", "scorer"]),
            lambda r: f"turn {r['turn']} of {r['answer_id']!r}, or its scorer, {TWICE}",
            "Give each scorer's last score once",
        ),
    ]
    if faults:
        return found, faults
    turns = found["turn"].astype(int)
    return found.assign(turn=turns)[[*OPEN_SCORE_COLUMNS]], []


def _named_once(found: pd.DataFrame) -> list[Fault]:
    return [
        *faults_among(
            ANSWERS,
            found,
            "answer_id",
            lambda cell: not cell,
            lambda r: "answer_id is empty",
            "Name the answer",
        ),
        *faults_where(
            ANSWERS,
            found,
            found.duplicated("answer_id") & (found["answer_id"] != ""),
            lambda r: f"answer_id {r['answer_id']!r} {TWICE}",
            "Give every answer a name of its own",
        ),
    ]
