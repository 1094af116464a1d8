"""Tables of the results: words as headings, rounded numbers; the files keep every digit."""

import pandas as pd
import streamlit as st

from ui.parts.look import grid

_WORDS = {
    "rater_id": "Rater",
    "ci_low": "CI from",
    "ci_high": "CI to",
    "cluster_ci_low": "Cluster CI from",
    "cluster_ci_high": "Cluster CI to",
    "ci_method": "CI method",
    "se": "SE",
    "auc": "AUC",
    "df": "Degrees of freedom",
    "by": "Grouped by",
    "rater_a": "First rater",
    "rater_b": "Second rater",
    "accuracy_a": "Accuracy, first",
    "accuracy_b": "Accuracy, second",
    "only_a_correct": "Only first correct",
    "only_b_correct": "Only second correct",
    "condition_a": "First condition",
    "condition_b": "Second condition",
    "value_a": "Value, first",
    "value_b": "Value, second",
    "pair_kind": "Pair",
    "item_id": "Case",
    "n_items": "n cases",
    "model_value": "Model",
    "model_id": "Model name",
    "reader_mean": "Mean of readers",
    "p_exact": "p (exact)",
    "p_mid": "p (mid-p)",
    "p_clustered": "p (clustered)",
    "p_adjusted": "p (adjusted)",
    "p_noninferior": "p (non-inferiority)",
    "p_noninferior_adjusted": "p (non-inferiority, adjusted)",
    "undefined_because": "Why there is no value",
}
"""What the columns' names, with their underscores taken out, do not say well."""
_SHARES = ("accuracy", "accuracy_a", "accuracy_b")
_OF_METRIC = ("reader_mean", "model_value", "value_a", "value_b", "margin", "se")
"""What is in the unit of the column ``metric``: a share where that is accuracy, else a number."""
_OF_SHARES = ("difference", "ci_low", "ci_high", "cluster_ci_low", "cluster_ci_high")
_AS_COUNTED = ("n", "p")
"""Letters of statistics: they stay small."""


def show_table(frame: pd.DataFrame) -> None:
    """Show a table of the analysis, in English as the report is; a part for each metric."""
    metrics = list(frame["metric"].unique()) if "metric" in frame else []
    if len(metrics) > 1:
        for metric in metrics:
            show_table(frame.loc[frame["metric"] == metric])
        return
    shares = {name for name in _SHARES if name in frame}
    if metrics == ["accuracy"]:
        shares |= set(_OF_METRIC)
    if shares:
        shares |= set(_OF_SHARES)
    told = frame.dropna(axis="columns", how="all") if len(frame) else frame
    grid(
        told,
        height=560,
        column_config={
            name: _column(told[name], heading(name), is_share=name in shares)
            for name in map(str, told.columns)
        },
    )


def heading(name: str) -> str:
    """Return a column's name in words.

    >>> heading("rater_id"), heading("ci_low"), heading("median_ms"), heading("n_flagged")
    ('Rater', 'CI from', 'Median (ms)', 'n flagged')
    """
    if name in _WORDS:
        return _WORDS[name]
    words = f"{name.removesuffix('_ms')} (ms)" if name.endswith("_ms") else name
    words = words.replace("_", " ")
    return words if words.split()[0] in _AS_COUNTED else words[:1].upper() + words[1:]


def _column(values: "pd.Series[float]", label: str, *, is_share: bool) -> object:
    if not pd.api.types.is_float_dtype(values):
        return label
    if is_share:
        return st.column_config.NumberColumn(label, format="percent")
    if label.split()[0] == "p":
        return st.column_config.NumberColumn(label, format="%.2g")
    counted = label.endswith("(ms)") or (values.dropna() % 1 == 0).all()
    return st.column_config.NumberColumn(label, format="%.0f" if counted else "%.3f")
