"""Items to look at: those that all readers missed and a model did not, and the reverse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial

from analysis.bundle.model import LETTERS
from analysis.report.case import case_of
from analysis.report.findings.errors import EVERYBODY_MISSED, MODELS_MISSED, READERS_MISSED
from analysis.report.wording.rows import Row, number, rows_of, shown_condition
from analysis.results import Results
from analysis.translation import later, said, t

MOST_ITEMS = 20
LONGEST_QUESTION = 320
TITLES = {
    READERS_MISSED: later("All readers missed it, a model did not"),
    MODELS_MISSED: later("All models missed it, a reader did not"),
    EVERYBODY_MISSED: later("Everybody missed it"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedItem:
    """An item as text.

    Parameters
    ----------
    item_id, condition, task, question, truth : str
        The condition is empty where the run has only one; `truth` with the option's words where
        they are known.
    readers, models : str
        How many of them had it right.
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
    """Items of one kind.

    Parameters
    ----------
    title : str
        As text.
    items : list of ListedItem
        The first of them.
    total : int
        How many there are.
    """

    title: str
    items: list[ListedItem]
    total: int

    @property
    def left(self) -> int:
        """Items that are not shown."""
        return self.total - len(self.items)


def item_lists(results: Results) -> list[ItemList]:
    """List the items by who missed them; the table has them all."""
    items = results.bundle.items
    texts: dict[str, Row] = {
        str(row["item_id"]): {str(key): value for key, value in row.items()}
        for row in items.loc[:, [c for c in _TEXTS if c in items.columns]].to_dict("records")
    }
    lists = []
    for note, title in TITLES.items():
        rows = rows_of(results, "item_difficulty", note=note)
        if rows:
            listed = [
                _item(results, row, texts.get(str(row["item_id"]), {})) for row in rows[:MOST_ITEMS]
            ]
            lists.append(ItemList(title=said(title), items=listed, total=len(rows)))
    return lists


def disagreement_lines(results: Results) -> Iterator[str]:
    """Yield `model_disagreements` as JSON, a line each, with the items' texts and every answer."""
    case_under = cache(partial(case_of, results.bundle))
    for row in results.tables["model_disagreements"].to_dict("records"):
        case = case_under(row["item_id"], row["condition"])
        yield json.dumps(
            {
                **{key: row[key] for key in row if key != "readers_answers"},
                "question": case.question,
                "options": [
                    f"{one.letter}. {one.text}" if one.text else one.letter for one in case.options
                ],
                "answers": {one.rater_id: one.letter or one.status.value for one in case.answers},
            },
            ensure_ascii=False,
        )


_TEXTS = ("item_id", "question", "truth", "options")


def _item(results: Results, row: Row, item: Row) -> ListedItem:
    return ListedItem(
        item_id=str(row["item_id"]),
        condition=shown_condition(results, str(row.get("condition") or "")),
        task=str(row.get("task") or ""),
        question=_cut(str(item.get("question") or "")),
        truth=_truth(item),
        readers=_of(row, "readers"),
        models=_of(row, "models"),
    )


def _truth(item: Row) -> str:
    letter = str(item.get("truth") or "")
    try:
        options = json.loads(str(item.get("options") or "[]"))
        words = str(options[LETTERS.index(letter)]) if letter else ""
    except (ValueError, IndexError, TypeError, KeyError):
        return letter
    return _cut(words if words.startswith(f"{letter}.") else f"{letter}. {words}".strip(". "))


def _of(row: Row, kind: str) -> str:
    right, there = number(row, f"n_{kind}_correct"), number(row, f"n_{kind}")
    if not there > 0:
        return ""
    return t("{n} of {total}", n=f"{right:.0f}", total=f"{there:.0f}")


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_QUESTION else line[: LONGEST_QUESTION - 1] + "…"
