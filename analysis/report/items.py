"""Lists of items to look at, disagreements between readers and models, and single cases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.bundle.model import LETTERS, Bundle, RaterKind, Status
from analysis.errors import AnalysisError, quoted
from analysis.figures.drawing.axes import RaterName, rater_names, rows_in_condition
from analysis.presentation.wording import Row, cell_number, records, rows_of, shown_condition
from analysis.readings.matrix import first_readings
from analysis.report.findings.agreement import EVERYBODY_MISSED, MODELS_MISSED, READERS_MISSED
from analysis.results import Results
from analysis.translation import later, t, translated


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option of an item.

    Parameters
    ----------
    letter, text : str
        The letter in canonical order, and the wording, which is empty if the bundle lacks it.
    is_reference : bool
        Whether the option is the reference standard.
    """

    letter: str
    text: str
    is_reference: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseAnswer:
    """The answer of a rater.

    Parameters
    ----------
    rater_id : str
        The rater's id in the bundle.
    name : RaterName
        The rater's displayed name.
    kind : RaterKind
        Reader or model.
    letter : str
        The chosen option's letter in canonical order; empty if there is no answer.
    status : Status
        The status of the reading.
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
        Id, condition and question as in the bundle.
    options : tuple of Option
        The options, or if the bundle has none, those that a rater or the reference standard names.
    answers : tuple of CaseAnswer
        The first readings in the condition, and those of models with a single condition.
    """

    item_id: str
    condition: str
    question: str
    options: tuple[Option, ...]
    answers: tuple[CaseAnswer, ...]


def case_of(bundle: Bundle, item_id: str, condition: str = "") -> Case:
    """Return a case with its answers.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    item_id : str
        The item.
    condition : str
        The readers' condition; empty if the bundle has none.

    Returns
    -------
    Case
        The case with the first reading of every rater.

    Raises
    ------
    AnalysisError
        The bundle has no item with this id.

    Examples
    --------
    >>> import pandas as pd
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
    for case in _cases_of(bundle, [item_id], condition):
        return case
    raise AnalysisError(f"item {quoted(item_id)} is not in this bundle")


def _cases_of(bundle: Bundle, item_ids: Sequence[str], condition: str) -> Iterator[Case]:
    """Yield the cases with these ids after a single search of the readings."""
    answers = _answers(bundle, item_ids, condition)
    columns = ["item_id", "question", "truth", "options", "n_options"]
    items = bundle.items.loc[bundle.items["item_id"].isin(item_ids), columns]
    for item in records(items):
        item_id = str(item["item_id"])
        case_answers = tuple(answers.get(item_id, ()))
        yield Case(
            item_id=item_id,
            condition=condition,
            question=str(item["question"]),
            options=_options(item, {answer.letter for answer in case_answers}),
            answers=case_answers,
        )


def _options(item: Row, letters: set[str]) -> tuple[Option, ...]:
    truth = str(item["truth"])
    try:
        texts = [str(text) for text in json.loads(str(item["options"]) or "[]")]
    except (ValueError, TypeError):
        texts = []
    texts += [""] * (int(item["n_options"]) - len(texts))
    known = LETTERS[: len(texts)] or "".join(sorted({truth, *letters} - {""}))
    texts += [""] * (len(known) - len(texts))
    return tuple(
        Option(letter=letter, text=text.removeprefix(f"{letter}. "), is_reference=letter == truth)
        for letter, text in zip(known, texts, strict=True)
    )


def _answers(
    bundle: Bundle, item_ids: Sequence[str], condition: str
) -> dict[str, list[CaseAnswer]]:
    """Return the first readings of some items by item, readers first and in order of id."""
    kinds = dict(zip(bundle.raters["rater_id"], bundle.raters["rater_kind"], strict=True))
    units = bundle.readings[["rater_id", "condition"]].drop_duplicates()
    shown = rows_in_condition(units.assign(rater_kind=units["rater_id"].map(kinds)), condition)
    readings = bundle.readings.loc[bundle.readings["item_id"].isin(item_ids)]
    readings = first_readings(readings).merge(shown, on=["rater_id", "condition"])
    readings = readings.assign(is_model=readings["rater_kind"] == RaterKind.MODEL)
    readings = readings.sort_values(["is_model", "rater_id"], kind="stable")
    names = rater_names(bundle)
    answers: dict[str, list[CaseAnswer]] = {}
    columns = ("item_id", "rater_id", "rater_kind", "status", "answer")
    for item, rater, kind, status, letter in zip(
        *(readings[c].to_numpy(object) for c in columns), strict=True
    ):
        answers.setdefault(item, []).append(
            CaseAnswer(
                rater_id=rater,
                name=names[rater],
                kind=RaterKind(kind),
                letter=letter if status == Status.ANSWERED else "",
                status=Status(status),
            )
        )
    return answers


MAX_ITEMS = 20
MAX_QUESTION_LENGTH = 320
LIST_TITLES = {
    READERS_MISSED: later("All readers missed it, a model did not"),
    MODELS_MISSED: later("All models missed it, a reader did not"),
    EVERYBODY_MISSED: later("Everybody missed it"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedItem:
    """An item of a list, with all fields as text to display.

    Parameters
    ----------
    item_id, condition, task, question, truth : str
        The condition is empty if the run has only one; `truth` includes the wording of the option
        if it is known.
    readers, models : str
        The numbers of correct readers and of correct models.
    """

    item_id: str
    condition: str
    task: str
    question: str
    truth: str
    readers: str
    models: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemList:
    """A list of items that were missed by the same kind of raters.

    Parameters
    ----------
    title : str
        Title to display.
    items : list of ListedItem
        The first items.
    total : int
        Number of all items.
    """

    title: str
    items: list[ListedItem]
    total: int

    @property
    def left(self) -> int:
        """The number of items that are not shown."""
        return self.total - len(self.items)


def item_lists(results: Results) -> list[ItemList]:
    """Return the first items of each list; the table `item_difficulty` has all."""
    items = results.bundle.items
    texts: dict[str, Row] = {
        str(row["item_id"]): {str(key): value for key, value in row.items()}
        for row in items.loc[:, [c for c in _TEXT_COLUMNS if c in items.columns]].to_dict("records")
    }
    lists = []
    for note, title in LIST_TITLES.items():
        rows = rows_of(results, "item_difficulty", note=note)
        if rows:
            first_items = [
                _item(results, row, texts.get(str(row["item_id"]), {})) for row in rows[:MAX_ITEMS]
            ]
            lists.append(ItemList(title=translated(title), items=first_items, total=len(rows)))
    return lists


def disagreement_lines(results: Results) -> Iterator[str]:
    """Yield the rows of `model_disagreements` as JSON, with question, options and all answers."""
    table = results.tables["model_disagreements"].drop(columns="readers_answers")
    described = {
        (condition, case.item_id): _case_details(case)
        for condition, rows in table.groupby("condition")
        for case in _cases_of(results.bundle, list(rows["item_id"].unique()), str(condition))
    }
    for row in records(table):
        described_case = described[row["condition"], row["item_id"]]
        yield json.dumps({**row, **described_case}, ensure_ascii=False)


def _case_details(case: Case) -> dict[str, object]:
    return {
        "question": case.question,
        "options": [
            f"{option.letter}. {option.text}" if option.text else option.letter
            for option in case.options
        ],
        "answers": {
            answer.rater_id: answer.letter or answer.status.value for answer in case.answers
        },
    }


_TEXT_COLUMNS = ("item_id", "question", "truth", "options")


def _item(results: Results, row: Row, item: Row) -> ListedItem:
    return ListedItem(
        item_id=str(row["item_id"]),
        condition=shown_condition(results, str(row.get("condition") or "")),
        task=str(row.get("task") or ""),
        question=_shorten(str(item.get("question") or "")),
        truth=_truth(item),
        readers=_n_of_total(row, "readers"),
        models=_n_of_total(row, "models"),
    )


def _truth(item: Row) -> str:
    letter = str(item.get("truth") or "")
    try:
        options = json.loads(str(item.get("options") or "[]"))
        words = str(options[LETTERS.index(letter)]) if letter else ""
    except (ValueError, IndexError, TypeError, KeyError):
        return letter
    return _shorten(words if words.startswith(f"{letter}.") else f"{letter}. {words}".strip(". "))


def _n_of_total(row: Row, kind: str) -> str:
    right, total = cell_number(row, f"n_{kind}_correct"), cell_number(row, f"n_{kind}")
    if not total > 0:
        return ""
    return t("{n} of {total}", n=f"{right:.0f}", total=f"{total:.0f}")


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUESTION_LENGTH else line[: MAX_QUESTION_LENGTH - 1] + "…"
