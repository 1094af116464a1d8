"""Reporting checklists: answered where the bundle knows, visibly open where it does not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from analysis.report.checklists.facts import Fact, facts
from analysis.report.checklists.topics import CHECKLISTS, NOTES
from analysis.results import Results

__all__ = ["Checklist", "ChecklistItem", "State", "checklists"]

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

    Parameters
    ----------
    results : Results
        The run.

    Returns
    -------
    list of Checklist
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
                for number, topic, names in topics
            ],
        )
        for name, (title, key, topics) in CHECKLISTS.items()
    ]


def _item(number: str, topic: str, fact: Fact | None) -> ChecklistItem:
    if fact is None:
        return ChecklistItem(number=number, topic=topic, state=State.OPEN, answer=OPEN, place="")
    state = State.PARTLY if fact.rest else State.ANSWERED
    answer = f"{fact.text}. Open: {fact.rest}" if fact.rest else fact.text
    return ChecklistItem(number=number, topic=topic, state=state, answer=answer, place=fact.place)
