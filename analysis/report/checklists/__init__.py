"""Reporting checklists: answered where the bundle knows, visibly open where it does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from analysis.report.checklists.facts import Fact, facts
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


Topics = tuple[tuple[str, str, tuple[str, ...]], ...]

GRRAS: Topics = (
    ("1", "Title or abstract says that agreement was studied", ()),
    ("2", "What is rated and with which instrument", ("process",)),
    ("3", "Which patients it is meant for", ()),
    ("4", "Which raters it is meant for", ("readers",)),
    ("5", "What is known already and why the study was done", ()),
    ("6", "Planned numbers of raters, cases, repeats, and why", ("sample_size",)),
    ("7", "How raters and cases were sampled", ("sampling",)),
    ("8", "How rating went: what was seen, in which order, after which time", ("process",)),
    ("9", "Whether ratings were made independently", ("blinding",)),
    ("10", "Statistical analysis", ("statistics",)),
    ("11", "Actual numbers of raters, cases and repeats", ("numbers",)),
    ("12", "Who the raters and the patients were", ("readers",)),
    ("13", "Estimates of agreement with their uncertainty", ("agreement",)),
    ("14", "What the results mean in practice", ()),
    ("15", "Detailed results", ("detail",)),
)

STARD_AI: Topics = (
    ("1", "Title or abstract names a study of diagnostic accuracy, and of AI", ()),
    ("2", "Structured abstract", ()),
    ("3", "Background, intended use and place of the AI in care", ()),
    ("4", "Objectives and hypotheses", ("hypotheses",)),
    ("5", "Data collected before or after the tests were planned", ()),
    ("6", "Who was eligible", ()),
    ("7", "How eligible patients were found", ()),
    ("8", "Where and when", ()),
    ("9", "Consecutive, random or convenience series", ("sampling",)),
    ("10a", "Index tests: models and how they were run; readers and what they saw", ("models",)),
    ("10b", "Reference standard", ("reference",)),
    ("11", "Why this reference standard", ()),
    (
        "12a",
        "What counts as a positive (here: a correct) answer of the index test",
        ("indeterminate",),
    ),
    ("12b", "The same for the reference standard", ("reference",)),
    ("13a", "What readers and models knew of the reference standard", ("blinding", "context")),
    ("13b", "What those who set the reference standard knew of the index tests", ()),
    ("14", "How accuracy is estimated and compared", ("statistics",)),
    ("15", "Answers that cannot be judged", ("indeterminate",)),
    ("16", "Missing data", ("missing",)),
    ("17", "Variability of accuracy; what was planned and what explored", ("subgroups",)),
    ("18", "Sample size and how it was chosen", ("sample_size",)),
    ("19", "Flow of patients, cases and readings", ("flow",)),
    ("20", "Who the patients were", ()),
    ("21a", "How severe the disease was", ()),
    ("21b", "What those without it had", ()),
    ("22", "Time and treatment between index test and reference standard", ()),
    ("23", "Answers against the reference standard in numbers", ("accuracy",)),
    ("24", "Accuracy with its precision", ("accuracy",)),
    ("25", "Harm from test or reference standard", ()),
    ("26", "Limits of the study", ()),
    ("27", "What follows for practice", ()),
    ("28", "Registration", ()),
    ("29", "Where the protocol can be read", ("protocol",)),
    ("30", "Funding", ()),
    ("AI a", "Where the data come from, and how they were labelled", ("reference",)),
    ("AI b", "How images were prepared before a model saw them", ()),
    ("AI c", "How data were divided, and that test data were kept apart from training", ()),
    ("AI d", "Version of each model, and where it can be had", ("models",)),
    ("AI e", "Hardware and software the models ran on", ()),
    ("AI f", "How people took part in the use of the AI", ("process",)),
    ("AI g", "Performance over subgroups, fairness and bias", ("subgroups",)),
    ("AI h", "What the errors were", ("failures",)),
    ("AI i", "Whether data, code and models can be had", ("software",)),
    ("AI j", "Commercial interests, and independent audit", ()),
)

CLAIM: Topics = (
    ("1", "Title or abstract names AI and its kind", ()),
    ("2", "Structured abstract", ()),
    ("3", "Background, intended use and clinical role", ()),
    ("4", "Aims, objectives, hypotheses", ("hypotheses",)),
    ("5", "Prospective or retrospective", ()),
    ("6", "Goal of the study", ("panel",)),
    ("7", "Sources of data", ()),
    ("8", "Who and what was included and left out", ()),
    ("9", "Preparation of the data", ()),
    ("10", "Selection of parts of the data", ("sampling",)),
    ("11", "De-identification", ()),
    ("12", "Missing data", ("missing",)),
    ("13", "How images were acquired", ()),
    ("14", "What the reference standard is", ("reference",)),
    ("15", "Why this reference standard", ()),
    ("16", "Who set the reference standard", ()),
    ("17", "How the test set was annotated", ()),
    ("18", "Variability of readers and of annotation", ("variability", "agreement")),
    ("19", "How data were assigned to partitions", ()),
    ("20", "At which level partitions share nothing", ()),
    ("21", "Size of the test set and how it was chosen", ("sample_size",)),
    ("22", "The model in detail", ("models",)),
    ("23", "Software and packages", ("software",)),
    ("24", "How parameters were initialised", ()),
    ("25", "Training", ()),
    ("26", "How the final model was chosen", ()),
    ("27", "Ensembles", ()),
    ("28", "Measures of performance", ("accuracy",)),
    ("29", "Tests and uncertainty", ("uncertainty",)),
    ("30", "Robustness and sensitivity", ("robustness",)),
    ("31", "Explainability", ()),
    ("32", "Evaluation on internal data", ()),
    ("33", "Testing on external data", ()),
    ("34", "Registration of a clinical trial", ()),
    ("35", "Numbers included and left out", ("flow",)),
    ("36", "Patients and cases in each partition", ()),
    ("37", "Performance against the reference standard", ("accuracy",)),
    ("38", "Precision of diagnostic performance", ("uncertainty",)),
    ("39", "What went wrong", ("failures",)),
    ("40", "Limits of the study", ()),
    ("41", "What follows for practice", ()),
    ("42", "Protocol and further technical detail", ("protocol",)),
    ("43", "Whether software, model and data can be had", ()),
    ("44", "Funding", ()),
)

CHECKLISTS: Mapping[str, tuple[str, str, Topics]] = {
    "grras": ("GRRAS", "kottner2011", GRRAS),
    "stard-ai": ("STARD-AI", "sounderajah2025", STARD_AI),
    "claim": ("CLAIM, 2024 update", "tejani2024", CLAIM),
}
NOTES: Mapping[str, str] = {
    "stard-ai": "Numbers are those of STARD 2015; what STARD-AI asks beyond it is lettered by us.",
}
