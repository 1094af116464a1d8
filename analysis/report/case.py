"""One case as it came out: the question, its options, and what every rater answered."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pandas as pd

from analysis.bundle.model import LETTERS, Bundle, RaterKind, Status
from analysis.errors import AnalysisError
from analysis.figures.drawing.names import RaterName, in_condition, rater_names
from analysis.readings.matrix import first_readings


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option in the item's canonical order.

    Parameters
    ----------
    letter, text : str
        The letter, and the words where the bundle has them.
    is_reference : bool
        Whether the reference standard names it.
    """

    letter: str
    text: str
    is_reference: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseAnswer:
    """What a rater answered.

    Parameters
    ----------
    rater_id : str
        Who, as in the bundle.
    name : RaterName
        Who, as shown.
    kind : RaterKind
        Reader or model.
    letter : str
        In canonical order; empty where there is no answer.
    status : Status
        What became of the reading.
    """

    rater_id: str
    name: RaterName
    kind: RaterKind
    letter: str
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A case with its answers, readers first.

    Parameters
    ----------
    item_id, condition, question : str
        As in the bundle.
    options : tuple of Option
        Those offered; where the bundle has no options, those that somebody or the reference
        standard names.
    answers : tuple of CaseAnswer
        First readings under the condition, and those of models that have one condition only.
    """

    item_id: str
    condition: str
    question: str
    options: tuple[Option, ...]
    answers: tuple[CaseAnswer, ...]


def case_of(bundle: Bundle, item_id: str, condition: str = "") -> Case:
    """Collect what is known about one case.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    item_id : str
        The item.
    condition : str
        The readers' condition; empty where the bundle has none.

    Returns
    -------
    Case
        The case with every rater's first reading of it.

    Raises
    ------
    AnalysisError
        When the bundle has no such item.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> case = case_of(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1"], "truth": ["B"], "options": ['["A. No", "B. Yes"]']}),
    ...     pd.DataFrame({"rater_id": ["R1"], "item_id": ["q1"], "answer": ["A"]}),
    ... ), "q1")
    >>> [(option.letter, option.text, option.is_reference) for option in case.options]
    [('A', 'No', False), ('B', 'Yes', True)]
    >>> [(answer.name.label, answer.letter) for answer in case.answers]
    [('R1', 'A')]
    """
    items = bundle.items.loc[bundle.items["item_id"] == item_id]
    if not len(items):
        raise AnalysisError(f"item {item_id!r} is not in this bundle")
    item = items.iloc[0]
    answers = _answers(bundle, item_id, condition)
    return Case(
        item_id=item_id,
        condition=condition,
        question=str(item["question"]),
        options=_options(item, {answer.letter for answer in answers}),
        answers=answers,
    )


def _options(item: pd.Series[str], named: set[str]) -> tuple[Option, ...]:
    truth = str(item["truth"])
    try:
        texts = [str(text) for text in json.loads(str(item["options"]) or "[]")]
    except (ValueError, TypeError):
        texts = []
    texts += [""] * (int(item["n_options"]) - len(texts))
    known = LETTERS[: len(texts)] or "".join(sorted({truth, *named} - {""}))
    texts += [""] * (len(known) - len(texts))
    return tuple(
        Option(letter=letter, text=text.removeprefix(f"{letter}. "), is_reference=letter == truth)
        for letter, text in zip(known, texts, strict=True)
    )


def _answers(bundle: Bundle, item_id: str, condition: str) -> tuple[CaseAnswer, ...]:
    kinds = dict(zip(bundle.raters["rater_id"], bundle.raters["rater_kind"], strict=True))
    units = bundle.readings[["rater_id", "condition"]].drop_duplicates()
    shown = in_condition(units.assign(rater_kind=units["rater_id"].map(kinds)), condition)
    readings = bundle.readings.loc[bundle.readings["item_id"] == item_id]
    readings = first_readings(readings).merge(shown, on=["rater_id", "condition"])
    names = rater_names(bundle)
    found = [
        CaseAnswer(
            rater_id=row["rater_id"],
            name=names[row["rater_id"]],
            kind=RaterKind(row["rater_kind"]),
            letter=row["answer"] if row["status"] == Status.ANSWERED else "",
            status=Status(row["status"]),
        )
        for row in readings.sort_values("rater_id").to_dict("records")
    ]
    return tuple(sorted(found, key=lambda answer: answer.kind is RaterKind.MODEL))
