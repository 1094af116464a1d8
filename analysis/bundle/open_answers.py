"""Checking `open_answers.csv` and `open_scores.csv`: answers in words, and how they were scored."""

from __future__ import annotations

import pandas as pd

from analysis.bundle.faults import TWICE, each_distinct, faults_where, with_columns
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
    silent = (
        found["words"].str.strip().map(bool).map({True: Status.ANSWERED, False: Status.SKIPPED})
    )
    found["status"] = found["status"].where(found["status"] != "", silent.map(str))
    for column in ("flags", "excluded"):
        found[column] = each_distinct(found[column], lambda cell: " ".join(cell.split()))
    kinds = raters.drop_duplicates("rater_id").set_index("rater_id")["rater_kind"]
    found["rater_kind"] = found["rater_id"].map(kinds).fillna("")
    faults = [
        *_named_once(found),
        *faults_where(
            ANSWERS,
            found,
            ~found["kind"].isin(OPEN_KINDS),
            lambda r: f"kind {r['kind']!r} is unknown",
            f"Write one of {', '.join(OPEN_KINDS)}",
        ),
        *faults_where(
            ANSWERS,
            found,
            ~found["item_id"].isin(items["item_id"]),
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
        *faults_where(
            ANSWERS,
            found,
            ~found["status"].isin(WRITTEN_STATUSES),
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
        *faults_where(
            GIVEN,
            found,
            ~found["answer_id"].isin(words),
            lambda r: f"answer_id {r['answer_id']!r} is no answered row of {ANSWERS}",
            "Add the answer or remove the score",
        ),
        *faults_where(
            GIVEN,
            found,
            found["scorer"] == "",
            lambda r: "scorer is empty",
            "Give the scorer's code, such as S1",
        ),
        *faults_where(
            GIVEN,
            found,
            ~found["turn"].isin(_TURNS),
            lambda r: f"turn {r['turn']!r} is none",
            "Write 1 or 2 for the two blind scores, and 3 for the one where these differ",
        ),
        *faults_where(
            GIVEN,
            found,
            ~found["score"].isin([*SCORES]),
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
        *faults_where(
            ANSWERS,
            found,
            found["answer_id"] == "",
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
