"""Reads a study's rows for a bundle, and writes the rows of a bundle into a store.

Row numbers are replaced by names: readers, models and items are identified by their ids. All
columns of a table are exported; the constraints of the store decide which rows are accepted.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, TypeVar

from study.store import models
from study.store.banks import PRIOR_DAYS
from study.store.connection import Transaction
from study.store.extract import is_section_shown

_Written = TypeVar("_Written")

_MODEL_COLUMNS = ("model_id", "edition")
_EDITION_DEFAULT = {"edition": 1}
_JOIN_END = "JOIN scoring_ends AS ended ON ended.scoring = {}"
_JOIN_READER = "JOIN readers ON readers.id = assignments.reader WHERE readers.study = :study "


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of row: its table, its query, and which of its columns are row numbers.

    Parameters
    ----------
    columns
        Columns that the query reads in addition to those of the table.
    source
        The rest of the query after the name of the table.
    numbers
        Columns with row numbers of this store, which are not exported.
    names
        Exported columns that replace a row number, and the column of that number.
    identifiers
        Exported columns by which other rows refer to a row of this kind.
    later_columns
        Columns that earlier bundles lack, with their defaults. A default is not exported, so that
        the export of a restored earlier bundle equals that bundle.
    """

    table: str
    source: str
    columns: str = ""
    numbers: tuple[str, ...] = ()
    names: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    identifiers: tuple[str, ...] = ()
    later_columns: Mapping[str, Any] = field(default_factory=dict)


def _join_section(section: str) -> str:
    """Return the join that adds a section of the context where the protocol shows it."""
    return (
        f"LEFT JOIN shown_context AS {section} ON {section}.item = cases.item "
        f"AND {section}.section = '{section}' AND {is_section_shown(section)}"
    )


KINDS: Mapping[str, Kind] = {
    "case": Kind(
        table="cases",
        columns=", item_id, origin, age, sex, indication.words AS indication, "
        "comparison.words AS comparison, prior_days",
        source="JOIN items ON items.id = cases.item "
        f"{_join_section('indication')} {_join_section('comparison')} "
        f"LEFT JOIN {PRIOR_DAYS} AS prior ON prior.item = cases.item "
        f"AND {is_section_shown('prior')} "
        "WHERE study = :study ORDER BY number",
        numbers=("id", "study", "item"),
        later_columns={"origin": "", "indication": None, "comparison": None, "prior_days": None},
    ),
    "wrong_image": Kind(
        table="wrong_images",
        columns=", items.item_id AS item_id, shown_items.item_id AS shown_item_id",
        source="JOIN cases ON cases.id = case_id JOIN items ON items.id = cases.item "
        "JOIN cases AS shown_cases ON shown_cases.id = shown_case "
        "JOIN items AS shown_items ON shown_items.id = shown_cases.item "
        "WHERE cases.study = :study ORDER BY cases.number",
        numbers=("case_id", "shown_case"),
        names={("item_id",): "case_id", ("shown_item_id",): "shown_case"},
    ),
    "aid": Kind(
        table="aids",
        columns=", item_id",
        source="JOIN cases ON cases.id = case_id JOIN items ON items.id = cases.item "
        "WHERE study = :study ORDER BY number",
        numbers=("case_id",),
        names={("item_id",): "case_id"},
    ),
    "reader": Kind(
        table="readers",
        source="WHERE study = :study ORDER BY id",
        numbers=("id", "study"),
        identifiers=("reader_id",),
        later_columns={"arm": "", "list": None},
    ),
    "assignment": Kind(
        table="assignments",
        columns=", reader_id, item_id",
        source="JOIN cases ON cases.id = case_id JOIN items ON items.id = cases.item "
        + _JOIN_READER
        + "ORDER BY readers.id, assignments.position",
        numbers=("reader", "case_id"),
        names={("reader_id",): "reader", ("item_id",): "case_id"},
        later_columns={"block": None, "stage": 0, "aid": ""},
    ),
    "presentation": Kind(
        table="presentations",
        source="JOIN assignments ON assignments.id = presentations.assignment "
        + _JOIN_READER
        + "ORDER BY presentations.rowid",
    ),
    "aid_request": Kind(
        table="aid_requests",
        source="JOIN assignments ON assignments.id = aid_requests.assignment "
        + _JOIN_READER
        + "ORDER BY aid_requests.rowid",
    ),
    "reading": Kind(
        table="readings",
        source="JOIN assignments ON assignments.id = readings.assignment "
        + _JOIN_READER
        + "ORDER BY readings.rowid",
        later_columns={"aid_shown_ms": None},
    ),
    "reason": Kind(
        table="reasons",
        source="JOIN readings ON readings.id = reasons.reading "
        "JOIN assignments ON assignments.id = readings.assignment "
        + _JOIN_READER
        + "ORDER BY readings.rowid",
    ),
    "model": Kind(
        table="models",
        source="WHERE study = :study ORDER BY id",
        numbers=("id", "study"),
        identifiers=_MODEL_COLUMNS,
        later_columns={**_EDITION_DEFAULT, "synthetic": 0},
    ),
    "prediction": Kind(
        table="predictions",
        columns=", model_id, edition, item_id",
        source="JOIN models ON models.id = model JOIN cases ON cases.id = case_id "
        "JOIN items ON items.id = cases.item WHERE models.study = :study "
        "ORDER BY models.id, number, condition, repeat",
        numbers=("model", "case_id"),
        names={_MODEL_COLUMNS: "model", ("item_id",): "case_id"},
        later_columns={**_EDITION_DEFAULT, **models.LATER_COLUMN_DEFAULTS},
    ),
    "withdrawn_model": Kind(
        table="withdrawn_models",
        columns=", model_id, edition",
        source="JOIN models ON models.id = model WHERE study = :study ORDER BY models.id",
        numbers=("model",),
        names={_MODEL_COLUMNS: "model"},
        later_columns=_EDITION_DEFAULT,
    ),
    "amendment": Kind(
        table="amendments",
        source="WHERE study = :study ORDER BY number",
        numbers=("id", "study"),
    ),
    "intervention": Kind(
        table="interventions",
        columns=", reader_id",
        source="LEFT JOIN readers ON readers.id = reader "
        "WHERE interventions.study = :study ORDER BY interventions.id",
        numbers=("id", "study", "reader"),
        names={("reader_id",): "reader"},
    ),
    "exclusion": Kind(
        table="exclusions",
        source="JOIN readings ON readings.id = exclusions.reading "
        "JOIN assignments ON assignments.id = readings.assignment "
        + _JOIN_READER
        + "ORDER BY exclusions.rowid",
    ),
    "scoring": Kind(
        table="scorings",
        source=f"{_JOIN_END.format('scorings.id')} WHERE study = :study ORDER BY scorings.id",
        numbers=("id", "study"),
        identifiers=("kind",),
    ),
    **{
        kind: Kind(
            table=table,
            columns=", kind",
            source=f"JOIN scorings ON scorings.id = {table}.scoring "
            f"{_JOIN_END.format('scorings.id')} WHERE scorings.study = :study "
            f"ORDER BY scorings.id, {order}",
            numbers=("scoring", *numbers),
            names={("kind",): "scoring"},
        )
        for kind, table, order, numbers in (
            ("scored_answer", "scoring_answers", "answer_id", ()),
            ("scorer", "scorers", "position", ("person",)),
            ("score", "scores", "scores.id", ("id",)),
        )
    },
    "scored_case": Kind(
        table="scoring_cases",
        columns=", kind, item_id",
        source="JOIN scorings ON scorings.id = scoring_cases.scoring "
        f"{_JOIN_END.format('scorings.id')} JOIN cases ON cases.id = case_id "
        "JOIN items ON items.id = cases.item WHERE scorings.study = :study "
        "ORDER BY scorings.id, item_id",
        numbers=("scoring", "case_id"),
        names={("kind",): "scoring", ("item_id",): "case_id"},
    ),
    "scoring_end": Kind(
        table="scoring_ends",
        columns=", kind",
        source="JOIN scorings ON scorings.id = scoring_ends.scoring "
        "WHERE study = :study ORDER BY scoring",
        numbers=("scoring",),
        names={("kind",): "scoring"},
    ),
}
"""The kinds in the order in which they are inserted; a row follows the rows it refers to."""


class UnfitRow(ValueError):
    """A row that violates a constraint of the store."""


SEALED_KINDS = frozenset({"wrong_image", "aid"})
"""Kinds that are not in a blinded bundle."""


def rows(
    look: Transaction, study: int, *, blinded: bool = False
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each row of a study that belongs in a bundle, with its kind."""
    for name, kind in KINDS.items():
        if blinded and name in SEALED_KINDS:
            continue
        for row in look.rows(
            f"SELECT {kind.table}.*{kind.columns} FROM {kind.table} {kind.source}", study=study
        ):
            yield name, {key: row[key] for key in row if _is_exported(kind, key, row[key])}


def case_rows(look: Transaction, study: int) -> list[dict[str, Any]]:
    """Return the rows of a study's cases in the form of a bundle, in order of number."""
    return [
        row for _, row in takewhile(lambda table_rows: table_rows[0] == "case", rows(look, study))
    ]


def _is_exported(kind: Kind, column: str, value: Any) -> bool:
    is_default = column in kind.later_columns and kind.later_columns[column] == value
    return column not in kind.numbers and not is_default


def columns(look: Transaction, kind: str) -> tuple[set[str], set[str]]:
    """Return the required and the permitted columns of an exported row of a kind."""
    kind_row = KINDS[kind]
    own_columns = {row["name"] for row in look.rows(f"PRAGMA table_info({kind_row.table})")}
    joined = {name.split()[-1] for name in kind_row.columns.split(",") if name.strip()}
    text_columns = (own_columns | joined) - set(kind_row.numbers)
    return text_columns - set(kind_row.later_columns), text_columns


def name_in(row: Mapping[str, Any], kind: str, columns: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the values of these columns, by which an exported row refers to another row."""
    later_columns = KINDS[kind].later_columns
    return tuple(
        row[name] if name not in later_columns else row.get(name, later_columns[name])
        for name in columns
    )


def insert(change: Transaction, kind: str, row: Mapping[str, Any]) -> int:
    """Insert a row whose names were replaced by row numbers, and return its number.

    Raises
    ------
    UnfitRow
        The row violates a constraint: a value has another type, or a row is a duplicate or refers
        to a missing row.
    """
    return checking_constraints(lambda: change.insert(KINDS[kind].table, **row))


def checking_constraints(write: Callable[[], _Written]) -> _Written:
    """Return the result of `write`.

    Raises
    ------
    UnfitRow
        A constraint of the store was violated.
    """
    try:
        return write()
    except (sqlite3.Error, OverflowError, UnicodeError) as error:
        raise UnfitRow(str(error)) from error
