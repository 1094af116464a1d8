"""Reporting checklists: answered where the bundle knows, visibly open where it does not."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from analysis.report.checklists.facts import Fact, facts
from analysis.results import Results

__all__ = ["Checklist", "ChecklistItem", "State", "checklists"]

Topic = tuple[str, str, Sequence[str]]
"""Its number in the guideline, what it asks in our own words, and the facts that may answer it."""

OPEN = "to be written by the authors"


class State(StrEnum):
    """How far an item is answered."""

    ANSWERED = "answered"
    PARTLY = "partly"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistItem:
    """An item with its answer.

    Parameters
    ----------
    number : str
        As in the guideline.
    topic : str
        What it asks, in our own words.
    state : State
        How far it is answered.
    answer, place : str
        The value, and where it stands in the report; what is open is said in the answer.
    """

    number: str
    topic: str
    state: State
    answer: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """A guideline's items.

    Parameters
    ----------
    name : str
        For ids.
    title, note : str
        As text.
    key : str
        The guideline's citation key.
    items : list of ChecklistItem
        In the guideline's order.
    """

    name: str
    title: str
    note: str
    key: str
    items: list[ChecklistItem]

    @property
    def summary(self) -> str:
        """How many items are answered, partly answered, open."""
        states = [item.state for item in self.items]
        return ", ".join(f"{states.count(state)} {state}" for state in State)


def checklists(results: Results) -> list[Checklist]:
    """Fill the checklists.

    GRRAS, STARD-AI and CLAIM.
    """
    known = facts(results)
    return [
        Checklist(
            name=name,
            title=title,
            note=NOTES.get(name, ""),
            key=key,
            items=[
                _item(number, topic, next((known[one] for one in names if one in known), None))
                for number, topic, names in TOPICS[name]
            ],
        )
        for name, (title, key) in CHECKLISTS.items()
    ]


def _item(number: str, topic: str, fact: Fact | None) -> ChecklistItem:
    if fact is None:
        return ChecklistItem(number=number, topic=topic, state=State.OPEN, answer=OPEN, place="")
    state = State.PARTLY if fact.rest else State.ANSWERED
    answer = f"{fact.text}. Open: {fact.rest}" if fact.rest else fact.text
    return ChecklistItem(number=number, topic=topic, state=state, answer=answer, place=fact.place)


def _topics() -> Mapping[str, Sequence[Topic]]:
    """Return what each guideline asks, by its name here, in its order."""
    found: dict[str, list[Topic]] = {}
    with Path(__file__).with_name("topics.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            one = (row["number"], row["topic"], row["facts"].split())
            found.setdefault(row["checklist"], []).append(one)
    return found


TOPICS = _topics()
CHECKLISTS = {
    "grras": ("GRRAS", "kottner2011"),
    "stard-ai": ("STARD-AI", "sounderajah2025"),
    "claim": ("CLAIM, 2024 update", "tejani2024"),
}
NOTES: Mapping[str, str] = {
    "stard-ai": "Numbers are those of STARD 2015; what STARD-AI asks beyond it is lettered by us.",
}
