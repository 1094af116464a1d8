"""Stored teaching: the banks that are open for teaching, and people's answers."""

from typing import Any, NamedTuple

from study.store.banks import FILM_COLUMNS, STRUCK_ITEMS, FilmRow
from study.store.connection import Transaction


class TaughtRow(NamedTuple):
    """A bank open for teaching."""

    id: int
    name: str


class LearntRow(NamedTuple):
    """A learner's answer; `answer` is a canonical letter, or empty."""

    id: str
    number: int
    item: int
    answer: str | None
    matches: int


class TaughtItem(NamedTuple):
    """An item as learners see it; `options` is JSON."""

    item: int
    question: str
    options: str


def mark(change: Transaction, bank: int, *, taught: bool, at_utc: str) -> None:
    """Record that teaching with a bank was opened or ended."""
    change.insert("teaching_marks", bank=bank, taught=int(taught), at_utc=at_utc)


def is_taught(look: Transaction, bank: int) -> bool:
    """Return whether a bank is open for teaching."""
    last = "SELECT taught FROM teaching_marks WHERE bank = :bank ORDER BY id DESC LIMIT 1"
    return bool(look.value(last, bank=bank))


def taught(look: Transaction) -> list[TaughtRow]:
    """Return the banks open for teaching, in order of name."""
    rows = look.rows("SELECT id, name FROM banks ORDER BY name")
    return [TaughtRow(**row) for row in rows if is_taught(look, row["id"])]


def add(change: Transaction, **columns: Any) -> None:
    """Insert an answer."""
    change.insert("teaching_answers", **columns)


def by_id(look: Transaction, answer_id: str) -> dict[str, Any] | None:
    """Return the complete row of any person's answer, or None."""
    return look.row("SELECT * FROM teaching_answers WHERE id = :id", id=answer_id)


def answers(look: Transaction, person: int, bank: int) -> list[LearntRow]:
    """Return a person's answers to a bank's items, in order."""
    rows = look.rows(
        f"SELECT {', '.join(LearntRow._fields)} FROM teaching_answers "
        "WHERE person = :person AND bank = :bank ORDER BY number",
        person=person,
        bank=bank,
    )
    return [LearntRow(**row) for row in rows]


def bounds(look: Transaction, bank: int) -> tuple[int, int]:
    """Return the first and the last number of a bank's items."""
    sql = "SELECT min(id) AS low, max(id) AS high FROM items WHERE bank = :bank"
    row = look.row(sql, bank=bank) or {}
    return int(row["low"] or 0), int(row["high"] or 0)


def next_item(look: Transaction, bank: int, place: int, excluding: tuple[int, ...]) -> int | None:
    """Return the first of a bank's items from a number onwards, then from the beginning.

    Items that have no reference standard, are struck off or are in `excluding` are passed over.
    """
    known = f"AND items.id NOT IN ({', '.join(map(str, excluding))}) " if excluding else ""
    for side in (">=", "<"):
        item = look.value(
            "SELECT items.id FROM items JOIN reference_standard ON item = items.id "
            f"WHERE bank = :bank {known}AND items.id NOT IN {STRUCK_ITEMS} "
            f"AND items.id {side} :place ORDER BY items.id LIMIT 1",
            bank=bank,
            place=place,
        )
        if item is not None:
            return int(item)
    return None


def item(look: Transaction, number: int) -> TaughtItem:
    """Return an item as learners see it."""
    row = look.row(
        "SELECT id AS item, question, options FROM items WHERE id = :number",
        number=number,
    )
    return TaughtItem(**row or {})


def truth(look: Transaction, number: int) -> tuple[str, str]:
    """Return an item's reference standard and its explanation, if it has one."""
    row = look.row(
        "SELECT truth, coalesce(words, '') AS words FROM reference_standard "
        "LEFT JOIN explanations ON explanations.item = reference_standard.item "
        "WHERE reference_standard.item = :number",
        number=number,
    )
    return (row["truth"], row["words"]) if row else ("", "")


def film(look: Transaction, number: int, view: int, *, prior: bool = False) -> FilmRow | None:
    """Return a film of an item by its position among those shown, or None; see `readings.views`."""
    return look.one(
        FilmRow,
        f"SELECT {FILM_COLUMNS} FROM item_films JOIN films ON films.id = film JOIN banks "
        "ON banks.id = films.bank WHERE item = :number AND position = :view AND prior <= :prior",
        prior=int(prior),
        number=number,
        view=view,
    )


def first_answers_by_task(look: Transaction, person: int, bank: int) -> list[tuple[str, int, int]]:
    """Return a person's first answers to a bank's items: task, number, and number correct."""
    return look.tuples(
        lambda *row: row,
        "SELECT task, count(*), sum(matches) FROM teaching_answers AS answers "
        "JOIN items ON items.id = answers.item WHERE person = :person AND answers.bank = :bank "
        "AND number = (SELECT min(number) FROM teaching_answers AS own WHERE own.person = :person "
        "AND own.bank = :bank AND own.item = answers.item) GROUP BY task ORDER BY task",
        person=person,
        bank=bank,
    )


def banks_practised(look: Transaction, person: int) -> list[TaughtRow]:
    """Return the banks on which a person practised in teaching."""
    rows = look.rows(
        "SELECT id, name FROM banks WHERE id IN "
        "(SELECT bank FROM teaching_answers WHERE person = :person) ORDER BY name",
        person=person,
    )
    return [TaughtRow(**row) for row in rows]


def n_learners(look: Transaction, bank: int) -> int:
    """Return the number of people who practised on a bank in teaching."""
    return int(
        look.value(
            "SELECT count(DISTINCT person) FROM teaching_answers WHERE bank = :bank", bank=bank
        )
    )
