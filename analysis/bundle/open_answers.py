"""Check `open_answers.csv` and `open_scores.csv`: free-text answers and their scores."""

from __future__ import annotations

import pandas as pd

from analysis.bundle.faults import (
    IN_EARLIER_ROW,
    add_columns,
    faults_among,
    faults_where,
    map_distinct,
    match_known_ids,
)
from analysis.bundle.model import (
    OPEN_ANSWER_COLUMNS,
    OPEN_ANSWER_KINDS,
    OPEN_SCORE_COLUMNS,
    SCORE_VALUES,
    WRITTEN_STATUSES,
    Status,
)
from analysis.errors import Fault, quoted

ANSWERS_FILE, SCORES_FILE = "open_answers.csv", "open_scores.csv"
_KEY_COLUMNS = ["kind", "rater_id", "item_id", "condition", "run"]
_TURN_NUMBERS = ("1", "2", "3")


def check_open_answers(
    table: pd.DataFrame, items: pd.DataFrame, raters: pd.DataFrame
) -> tuple[pd.DataFrame, list[Fault]]:
    """Check the free-text answers against the items and the raters.

    An empty status becomes `answered` if the answer has words, else `skipped`. `rater_kind` is
    taken from the raters.
    """
    rows = add_columns(table, OPEN_ANSWER_COLUMNS)
    for column in ("answer_id", *_KEY_COLUMNS, "status"):
        rows[column] = map_distinct(rows[column], str.strip)
    rows["item_id"] = match_known_ids(rows["item_id"], items["item_id"])
    rows["rater_id"] = match_known_ids(rows["rater_id"], raters["rater_id"])
    defaults = [Status.ANSWERED if words.strip() else Status.SKIPPED for words in rows["words"]]
    default = pd.Series([status.value for status in defaults], index=rows.index, dtype=object)
    rows["status"] = rows["status"].where(rows["status"] != "", default)
    for column in ("flags", "excluded"):
        rows[column] = map_distinct(rows[column], lambda cell: " ".join(cell.split()))
    kinds = raters.drop_duplicates("rater_id").set_index("rater_id")["rater_kind"]
    rows["rater_kind"] = rows["rater_id"].map(kinds).fillna("")
    known = set(items["item_id"])
    faults = [
        *_id_faults(rows),
        *faults_among(
            ANSWERS_FILE,
            rows,
            "kind",
            lambda cell: cell not in OPEN_ANSWER_KINDS,
            lambda r: f"kind {quoted(r['kind'])} is unknown",
            f"Write one of {', '.join(OPEN_ANSWER_KINDS)}",
        ),
        *faults_among(
            ANSWERS_FILE,
            rows,
            "item_id",
            lambda cell: cell not in known,
            lambda r: f"item_id {quoted(r['item_id'])} is not in items.csv",
            "Add the item or remove the answer",
        ),
        *faults_where(
            ANSWERS_FILE,
            rows,
            rows["rater_kind"] == "",
            lambda r: f"rater_id {quoted(r['rater_id'])} is not among the raters",
            "Add the rater to raters.csv or remove the answer",
        ),
        *faults_among(
            ANSWERS_FILE,
            rows,
            "status",
            lambda cell: cell not in WRITTEN_STATUSES,
            lambda r: f"status {quoted(r['status'])} is unknown",
            f"Write one of {', '.join(WRITTEN_STATUSES)}",
        ),
        *faults_where(
            ANSWERS_FILE,
            rows,
            rows.duplicated(_KEY_COLUMNS),
            lambda r: f"{quoted(r['item_id'])} by {quoted(r['rater_id'])} {IN_EARLIER_ROW}",
            "Keep one of the rows",
        ),
    ]
    return rows[[*OPEN_ANSWER_COLUMNS]], faults


def check_open_scores(
    table: pd.DataFrame, answers: pd.DataFrame
) -> tuple[pd.DataFrame, list[Fault]]:
    """Check the scores against the answers, and convert `turn` to whole numbers."""
    rows = add_columns(table, OPEN_SCORE_COLUMNS)
    for column in ("answer_id", "scorer", "turn", "score"):
        rows[column] = map_distinct(rows[column], str.strip)
    # An explanation can be scored regardless of the status of the answer that it explains.
    explains = answers["kind"] == OPEN_ANSWER_KINDS[1]
    scorable = set(answers.loc[(answers["status"] == Status.ANSWERED) | explains, "answer_id"])
    faults = [
        *faults_among(
            SCORES_FILE,
            rows,
            "answer_id",
            lambda cell: cell not in scorable,
            lambda r: (
                f"answer_id {quoted(r['answer_id'])} is not an answered row of {ANSWERS_FILE}"
            ),
            "Add the answer or remove the score",
        ),
        *faults_among(
            SCORES_FILE,
            rows,
            "scorer",
            lambda cell: not cell,
            lambda r: "scorer is empty",
            "Give the scorer's code, such as S1",
        ),
        *faults_among(
            SCORES_FILE,
            rows,
            "turn",
            lambda cell: cell not in _TURN_NUMBERS,
            lambda r: f"turn {quoted(r['turn'])} is unknown",
            "Write 1 or 2 for the two blind scores, and 3 for the third where these differ",
        ),
        *faults_among(
            SCORES_FILE,
            rows,
            "score",
            lambda cell: cell not in SCORE_VALUES,
            lambda r: f"score {quoted(r['score'])} is unknown",
            f"Write one of {', '.join(SCORE_VALUES)}",
        ),
        *faults_where(
            SCORES_FILE,
            rows,
            rows.duplicated(["answer_id", "turn"]) | rows.duplicated(["answer_id", "scorer"]),
            lambda r: (
                f"turn {r['turn']} of {quoted(r['answer_id'])}, or its scorer, {IN_EARLIER_ROW}"
            ),
            "Give each scorer's last score once",
        ),
    ]
    if faults:
        return rows, faults
    turns = rows["turn"].astype(int)
    return rows.assign(turn=turns)[[*OPEN_SCORE_COLUMNS]], []


def _id_faults(rows: pd.DataFrame) -> list[Fault]:
    return [
        *faults_among(
            ANSWERS_FILE,
            rows,
            "answer_id",
            lambda cell: not cell,
            lambda r: "answer_id is empty",
            "Name the answer",
        ),
        *faults_where(
            ANSWERS_FILE,
            rows,
            rows.duplicated("answer_id") & (rows["answer_id"] != ""),
            lambda r: f"answer_id {quoted(r['answer_id'])} {IN_EARLIER_ROW}",
            "Give every answer a name of its own",
        ),
    ]
