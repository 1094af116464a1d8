"""Two models beside each other on the results page: by task, and the cases on which they differ."""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from analysis import Results
from analysis.figures.drawing.axes import rater_names
from analysis.statistics.comparison.pairs import only_one_correct, pair_of
from study.base.translation import t
from ui.parts.look import grid

_percent = partial(st.column_config.NumberColumn, format="percent")


def side_by_side(found: Results) -> tuple[pd.DataFrame, str]:
    """Show two models that are chosen; return the cases only one of them has right, and a key.

    Of two versions of a model these are what became better and what became worse.
    """
    table, names = found.tables["model_pairs"], rater_names(found.bundle)
    models = sorted({*table["rater_a"], *table["rater_b"]})
    left, right = st.columns(2)
    first = left.selectbox(t("First model"), models, format_func=lambda one: names[one].full)
    others = [model for model in models if model != first]
    second = right.selectbox(t("Second model"), others, format_func=lambda one: names[one].full)
    _by_task(pair_of(table, first, second))
    parted = only_one_correct(found.bundle, first, second)
    n = parted["correct"].value_counts()
    who = st.segmented_control(
        t("Cases only one of them got right"),
        [first, second],
        default=first,
        required=True,
        format_func=lambda one: t(
            "Only {model} correct: {n}", model=names[one].full, n=int(n.get(one, 0))
        ),
        key=f"only-{first}-{second}",
    )
    cases, known = parted.loc[parted["correct"] == who], found.tables["item_difficulty"]
    there = set(cases["condition"]) <= set(known["condition"])
    keys = ["item_id", "condition"] if there else ["item_id"]
    return (
        known.merge(cases[keys]).drop_duplicates(keys, ignore_index=True),
        f"side-{first}-{second}-{who}",
    )


def _by_task(rows: pd.DataFrame) -> None:
    if rows.empty:
        st.write(t("These two models answered no case under the same condition."))
        return
    columns: dict[str, Any] = {
        "group": st.column_config.TextColumn(t("Cases"), width="medium"),
        "condition": t("Condition"),
        "n": "n",
        "accuracy_a": _percent(t("First model")),
        "accuracy_b": _percent(t("Second model")),
        "difference": _percent(t("Difference")),
        "ci_low": _percent(t("Lower limit")),
        "ci_high": _percent(t("Upper limit")),
        "only_a_correct": t("Only first correct"),
        "only_b_correct": t("Only second correct"),
    }
    if not rows["condition"].any():
        del columns["condition"]
    grid(
        rows.assign(group=rows["group"].where(rows["by"] == "task", t("All cases"))),
        column_order=list(columns),
        column_config=columns,
    )
