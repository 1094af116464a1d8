"""Reporting checklists, whose items are answered from the bundle or else marked as open."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from analysis.report.checklists.facts import ChecklistFact, facts
from analysis.results import Results

__all__ = ["Checklist", "ChecklistItem", "State", "checklists"]

Topic = tuple[str, str, Sequence[str]]
"""Number in the guideline, paraphrase of the item, and names of facts that can answer it."""

TO_BE_WRITTEN = "to be written by the authors"


class ChecklistState(StrEnum):
    """Whether an item has a complete answer, a partial answer or none."""

    ANSWERED = "answered"
    PARTLY = "partly"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistItem:
    """An item of a checklist with its answer.

    Parameters
    ----------
    number : str
        Number in the guideline.
    topic : str
        Paraphrase of the item.
    state : ChecklistState
        Whether the item has a complete answer.
    answer, place : str
        The answer with what is still open, and where the report has the information.
    """

    number: str
    topic: str
    state: ChecklistState
    answer: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """The checklist of a guideline.

    Parameters
    ----------
    name : str
        Name for ids.
    title, note : str
        Title and note to display.
    key : str
        Citation key of the guideline.
    items : list of ChecklistItem
        The items in the order of the guideline.
    """

    name: str
    title: str
    note: str
    key: str
    items: list[ChecklistItem]

    @property
    def summary(self) -> str:
        """The numbers of answered, partly answered and open items."""
        states = [item.state for item in self.items]
        return ", ".join(f"{states.count(state)} {state}" for state in ChecklistState)


def checklists(results: Results) -> list[Checklist]:
    """Return the filled checklists, in the order of `CHECKLISTS`."""
    known = facts(results)
    return [
        Checklist(
            name=name,
            title=title,
            note=NOTES.get(name, ""),
            key=key,
            items=[
                _item(number, topic, next((known[key] for key in keys if key in known), None))
                for number, topic, keys in TOPICS[name]
            ],
        )
        for name, (title, key) in CHECKLISTS.items()
    ]


def _item(number: str, topic: str, fact: ChecklistFact | None) -> ChecklistItem:
    if fact is None:
        return ChecklistItem(
            number=number, topic=topic, state=ChecklistState.OPEN, answer=TO_BE_WRITTEN, place=""
        )
    state = ChecklistState.PARTLY if fact.still_open else ChecklistState.ANSWERED
    answer = f"{fact.text}. Open: {fact.still_open}" if fact.still_open else fact.text
    return ChecklistItem(number=number, topic=topic, state=state, answer=answer, place=fact.place)


def _topics() -> Mapping[str, Sequence[Topic]]:
    """Return the items of each guideline, in the order of the guideline."""
    topics: dict[str, list[Topic]] = {}
    with Path(__file__).with_name("topics.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            topic = (row["number"], row["topic"], row["facts"].split())
            topics.setdefault(row["checklist"], []).append(topic)
    return topics


TOPICS = _topics()
CHECKLISTS = {
    "grras": ("GRRAS", "kottner2011"),
    "stard-ai": ("STARD-AI", "sounderajah2025"),
    "claim": ("CLAIM, 2024 update", "tejani2024"),
    "decide-ai": ("DECIDE-AI", "vasey2022"),
    "human-baselines": ("Human baselines", "wei2025"),
}
NOTES: Mapping[str, str] = {
    "decide-ai": "Written for the early clinical evaluation of an AI system. In a reader study, the"
    " users are the readers, and the patients are those of the cases.",
    "human-baselines": "Numbers are those of the publication; items 0.1 to 0.4 (title, link, year "
    "and venue of the paper) are omitted. A baseliner is a reader.",
    "stard-ai": "Numbers are those of STARD 2015. Topics that STARD-AI adds have letters, which are"
    " ours.",
}
