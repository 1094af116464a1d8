"""Hard items, and items on which a model and the readers disagree.

`item_difficulty.csv`, `model_disagreements.csv`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Ints
from analysis.bundle.model import LETTERS, Bundle, RaterKind, Status
from analysis.figures.robustness import difficulty_chart, items_read_by_both
from analysis.presentation.captions import number_range
from analysis.presentation.wording import join_sentences
from analysis.readings.matrix import (
    ReadingMatrix,
    columns_by_condition,
)
from analysis.results import Results
from analysis.statistics.statistic import Column, Figure, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import t, tn

READERS_MISSED = "all readers missed it, a model did not"
MODELS_MISSED = "all models missed it, a reader did not"
EVERYBODY_MISSED = "everybody missed it"
EVERYBODY_CORRECT = "everybody had it right"


def item_difficulty(study: Study | Bundle) -> pd.DataFrame:
    """Count the readers and models that answered each item correctly.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.

    Returns
    -------
    pandas.DataFrame
        The columns of `ITEM_DIFFICULTY`; one row per condition and item with a reference standard,
        in this order. Shares are of the raters who are counted, or nan if there are none;
        `few_readers` states how many of the condition's readers are counted, if not all are.

    Notes
    -----
    A reader is counted for an item if there is a reading of it, regardless of status, because an
    item that was never presented is not difficult. Every model is counted for every item; missing
    predictions are incorrect. Excluded readings are not counted if the protocol drops them from the
    primary analysis. Unanswered items are incorrect. A model with a single condition is included
    with the readers of every condition.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = item_difficulty(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1", "q2"], "truth": ["A", "B"]}),
    ...     pd.DataFrame({
    ...         "rater_id": ["R1", "R2", "M"] * 2,
    ...         "item_id": ["q1"] * 3 + ["q2"] * 3,
    ...         "answer": list("AAABBA"),
    ...     }),
    ...     pd.DataFrame({"rater_id": ["R1", "R2", "M"],
    ...                   "rater_kind": ["reader", "reader", "model"]}),
    ... ))
    >>> for row in table[["item_id", "n_readers_correct", "n_models_correct", "note"]].values:
    ...     print(*row)
    q1 2 1 everybody had it right
    q2 2 0 all models missed it, a reader did not
    """
    study = study_of(study, None)
    bundle, matrix = study.bundle, study.matrix
    items = np.flatnonzero(matrix.has_truth)
    items = items[np.argsort(matrix.item_ids[items].astype(str), kind="stable")]
    item_columns = bundle.items.set_index("item_id").loc[list(matrix.item_ids[items])]
    is_counted = matrix.is_counted
    tables = [
        item_columns.reset_index().assign(
            condition=condition, **_counts_by_kind(matrix, is_counted, items, columns)
        )
        for condition, columns in columns_by_condition(matrix.columns).items()
    ]
    table = pd.concat(tables, ignore_index=True)
    return table.assign(note=_item_notes(table))[ITEM_DIFFICULTY.header]


def _counts_by_kind(
    matrix: ReadingMatrix, is_counted: Bools, items: Ints, columns: Sequence[int]
) -> pd.DataFrame:
    counts = pd.DataFrame(index=range(len(items)))
    for kind in RaterKind:
        columns_of_kind = [i for i in columns if matrix.columns[i].kind is kind]
        n = is_counted[:, columns_of_kind][items].sum(axis=1, dtype=np.int64)
        n_correct = matrix.correct[:, columns_of_kind][items].sum(axis=1, dtype=np.int64)
        counts[f"n_{kind}s"], counts[f"n_{kind}s_correct"] = n, n_correct
        counts[f"{kind}s_share"] = np.divide(n_correct, n, out=np.full(len(n), np.nan), where=n > 0)
        if kind is RaterKind.READER:
            total = len(columns_of_kind)
            counts["few_readers"] = [f"{k} of {total} readers" if k < total else "" for k in n]
    return counts


def _item_notes(table: pd.DataFrame) -> pd.Series[str]:
    readers, models = table["n_readers"], table["n_models"]
    readers_correct, models_correct = table["n_readers_correct"], table["n_models_correct"]
    # Unread items are not described as missed by all raters, unless there are only models.
    has_readers = readers.groupby(table["condition"]).transform("max") > 0
    n = (readers + models).where((readers > 0) | ~has_readers, 0)
    n_correct = readers_correct + models_correct
    notes = pd.Series("", index=table.index, dtype=object)
    notes[(n > 0) & (n_correct == n)] = EVERYBODY_CORRECT
    notes[(n > 0) & (n_correct == 0)] = EVERYBODY_MISSED
    notes[(readers > 0) & (readers_correct == 0) & (models_correct > 0)] = READERS_MISSED
    notes[(models > 0) & (models_correct == 0) & (readers_correct > 0)] = MODELS_MISSED
    return notes


MODEL_WRONG = "all readers right, the model wrong"
MODEL_RIGHT = "the model right, all readers wrong"


def model_disagreements(study: Study | Bundle) -> pd.DataFrame:
    """List the items that a model answered wrongly and all readers correctly, and the reverse.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.

    Returns
    -------
    pandas.DataFrame
        The columns of `MODEL_DISAGREEMENTS`; one row per model, condition and item of either kind,
        in this order. Answers are letters in the item's order of options, empty if there is none;
        `readers_answers` has the answers of the readers who are counted, such as "R1: A; R2: A", in
        order of their ids.

    Notes
    -----
    Readers are counted as in `item_difficulty`; items without such a reader are omitted.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = model_disagreements(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1", "q2", "q3"], "truth": ["A", "B", "C"]}),
    ...     pd.DataFrame({
    ...         "rater_id": ["R1", "R2", "M"] * 3,
    ...         "item_id": ["q1"] * 3 + ["q2"] * 3 + ["q3"] * 3,
    ...         "answer": list("AABCABCAC"),
    ...     }),
    ...     pd.DataFrame({"rater_id": ["R1", "R2", "M"],
    ...                   "rater_kind": ["reader", "reader", "model"]}),
    ... ))
    >>> for row in table[["item_id", "kind", "model_answer", "readers_answers"]].values:
    ...     print(*row, sep=", ")
    q1, all readers right, the model wrong, B, R1: A; R2: A
    q2, the model right, all readers wrong, B, R1: C; R2: A
    """
    study = study_of(study, None)
    bundle, matrix = study.bundle, study.matrix
    rows = [
        row
        for condition, columns in columns_by_condition(matrix.columns).items()
        for row in _disagreement_rows(matrix, condition, columns)
    ]
    names = MODEL_DISAGREEMENTS.header
    table = pd.DataFrame(rows, columns=[name for name in names if name not in _ITEM_COLUMNS])
    item_columns = bundle.items[["item_id", *_ITEM_COLUMNS]]
    # The items' columns are text even without rows.
    joined = table.astype({"item_id": object}).merge(item_columns, on="item_id", how="left")
    order = ["model_id", "condition", "item_id"]
    return joined.sort_values(order, kind="stable", ignore_index=True)[names]


_ITEM_COLUMNS = ("task", "category", "examination_id")


def _disagreement_rows(
    matrix: ReadingMatrix, condition: str, columns: Sequence[int]
) -> Iterator[dict[str, object]]:
    readers = [i for i in columns if matrix.columns[i].kind is RaterKind.READER]
    all_given, all_correct = matrix.is_counted, matrix.correct
    is_counted, correct = all_given[:, readers], all_correct[:, readers]
    names = [matrix.columns[i].rater_id for i in readers]
    n, n_correct = (
        is_counted.sum(axis=1, dtype=np.int64),
        (is_counted & correct).sum(axis=1, dtype=np.int64),
    )
    for model in (i for i in columns if matrix.columns[i].kind is RaterKind.MODEL):
        is_model_counted = all_given[:, model] & (n > 0)
        is_correct = all_correct[:, model]
        for kind, chosen in (
            (MODEL_WRONG, is_model_counted & ~is_correct & (n_correct == n)),
            (MODEL_RIGHT, is_model_counted & is_correct & (n_correct == 0)),
        ):
            for item in np.flatnonzero(chosen):
                yield {
                    "model_id": matrix.columns[model].rater_id,
                    "condition": condition,
                    "item_id": matrix.item_ids[item],
                    "kind": kind,
                    "truth": _letter(matrix.truth[item]),
                    "model_answer": _letter(matrix.answers[item, model]),
                    "model_status": tuple(Status)[matrix.statuses[item, model]].value,
                    "n_readers": int(n[item]),
                    "readers_answers": "; ".join(
                        f"{name}: {_letter(matrix.answers[item, i])}".strip()
                        for name, i, is_reader_counted in zip(
                            names, readers, is_counted[item], strict=True
                        )
                        if is_reader_counted
                    ),
                }


def _letter(code: int) -> str:
    return LETTERS[code] if code >= 0 else ""


def difficulty_figure(results: Results, condition: str) -> Iterator[Figure]:
    """Show how many cases are hard for readers, and how many for models."""
    items = results.tables["item_difficulty"]
    rows = items_read_by_both(items, condition)
    if len(rows):
        yield Figure(
            "items",
            "item-difficulty",
            t("Hard cases, for readers and for models"),
            difficulty_caption(rows),
            difficulty_chart(items, condition=condition),
        )


def difficulty_caption(rows: pd.DataFrame) -> str:
    """Describe the figure of difficulty, with the number of items that not all readers read."""
    max_readers = rows["n_readers"].max()
    few = rows.loc[rows["n_readers"] < max_readers, "n_readers"]
    partly_read = ""
    if len(few):
        partly_read = t(
            "{few} of them were read by fewer than {most} readers (n = {n}) and are placed by the"
            " share of those who were correct.",
            few=str(len(few)),
            most=str(max_readers),
            n=number_range(few),
        )
    return join_sentences(
        [
            t(
                "Number of cases by how many of {readers} and of {models} were correct, {cases}; a"
                " count, so without interval.",
                readers=tn("{n} reader", "{n} readers", int(rows["n_readers"].max())),
                models=tn("{n} model", "{n} models", int(rows["n_models"].max())),
                cases=tn("{n} case", "{n} cases", len(rows)),
            ),
            t("Lower right: hard for readers only. Upper left: hard for models only."),
            partly_read,
        ]
    )


ITEM_DIFFICULTY = Statistic(
    name="item_difficulty",
    meaning="How many readers and models answered an item correctly.",
    columns=(
        *shared_columns("item_id condition task category subcategory examination_id n_readers"),
        Column("n_readers_correct", "Readers with the correct answer.", "count"),
        *shared_columns("n_models"),
        Column("n_models_correct", "Models with the correct answer.", "count"),
        Column("readers_share", "Share of the readers who were correct.", "proportion"),
        Column("models_share", "Share of the models that were correct.", "proportion"),
        Column("few_readers", "How many of the condition's readers are counted, if not all."),
        *shared_columns("note"),
    ),
    compute=item_difficulty,
    figures={150: difficulty_figure},
)


MODEL_DISAGREEMENTS = Statistic(
    name="model_disagreements",
    meaning="An item on which a model and all readers disagree.",
    columns=(
        *shared_columns("model_id condition item_id task category examination_id"),
        Column("kind", "Who was correct."),
        Column("truth", "Letter of the reference answer."),
        Column("model_answer", "Letter of the model's answer."),
        Column("model_status", "Status of the model's reading."),
        *shared_columns("n_readers"),
        Column("readers_answers", "Each reader's answer, as `R1: A; R2: A`."),
    ),
    compute=model_disagreements,
)
