"""Models under conditions that no reader had: the table `model_conditions.csv`."""

from __future__ import annotations

from collections.abc import Iterator, Set

import numpy as np
import pandas as pd

from analysis.bundle.model import Bundle
from analysis.bundle.primary import CONDITIONS_AS_READERS
from analysis.figures.drawing.axes import condition_name, rater_names
from analysis.figures.robustness import differences_chart, model_rows, task_panels
from analysis.options import Options
from analysis.presentation.captions import case_range, interval_methods
from analysis.presentation.table import (
    MAX_ROWS,
    ReportTable,
    percent_cell,
    percent_with_range,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import cell_number, file_name, join_sentences, rows_of
from analysis.readings.matrix import (
    NO_LETTER,
)
from analysis.results import Results
from analysis.statistics.accuracy.means import mean_over_items
from analysis.statistics.accuracy.model_runs import model_ids
from analysis.statistics.agreement.pairs.counts import pairs_of
from analysis.statistics.comparison.model_pairs import (
    PAIR_COLUMNS,
    compare_by_task,
    group_words,
    item_groups,
    paired_difference,
    with_patient_intervals,
)
from analysis.statistics.statistic import (
    Column,
    Figure,
    Statistic,
    columns_like,
    shared_columns,
)
from analysis.statistics.study import Study, study_of
from analysis.translation import localised, t

CONDITIONS_WITHOUT_IMAGE = ("image-absent", "wrong-image")
"""Reading Room's conditions in which readers or models do not see the image of the case."""
CONDITIONS_WITHOUT_AID = (*CONDITIONS_AS_READERS, "unaided")

_SIDES = ("a", "b")


def model_conditions(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Compare a model's primary answers with its answers under each other condition.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        Columns `model_id, condition_a, condition_b` (the condition of the primary answers and the
        other condition); those of `model_pairs` from `by` on, a minus b; and `n_both_answered,
        same_answer, same_low, same_high`: the share of same answers among the items answered under
        both conditions, with its interval. There is a row for each model, each condition that no
        reader had or that withholds the image (`CONDITIONS_WITHOUT_IMAGE`), and each group: overall
        (`micro`), then the tasks.

    Notes
    -----
    Only items with a reading under both conditions are counted; missing answers are incorrect.
    Answers are compared as options, not as positions: if the other condition shows the options in
    another order, `same_answer` is the share of answers that the order did not change. Its interval
    is that of a mean over items: t over patients if they have several items, otherwise over items.
    It is empty if every item has the same value.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = model_conditions(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": "A"}),
    ...     pd.DataFrame({
    ...         "rater_id": ["R"] + ["M"] * 8, "item_id": ["w", *"wxyz", *"wxyz"],
    ...         "answer": list("A" "AAAA" "ABBA"), "condition": [""] * 5 + ["image-absent"] * 4,
    ...     }),
    ...     pd.DataFrame({"rater_id": ["R", "M"], "rater_kind": ["reader", "model"]}),
    ... ))
    >>> table[["condition_b", "n", "difference", "same_answer"]].values.tolist()
    [['image-absent', 4, 0.5, 0.5]]
    """
    study = study_of(study, options)
    bundle, parts = study.bundle, []
    models = model_ids(bundle)
    is_model = bundle.readings["rater_id"].isin(models)
    reader_conditions = set(bundle.readings.loc[~is_model, "condition"].unique())
    by_model = dict(
        iter(bundle.readings.loc[is_model].groupby("rater_id", sort=False, observed=True))
    )
    for model in models:
        if model not in by_model:
            continue
        primary, others = _primary_and_others(
            by_model[model], bundle.aside, model, reader_conditions
        )
        for condition, other in others.groupby("condition", sort=True):
            if set(primary["item_id"]) & set(other["item_id"]):
                key = {
                    "model_id": model,
                    "condition_a": primary["condition"].iloc[0],
                    "condition_b": condition,
                }
                parts.append(
                    _compare_conditions(bundle, primary, other, study.options).assign(**key)
                )
    if not parts:
        return pd.DataFrame(columns=MODEL_CONDITIONS.header)
    return pd.concat(parts, ignore_index=True)[MODEL_CONDITIONS.header]


def _primary_and_others(
    own_answers: pd.DataFrame, secondary: pd.DataFrame, model: str, reader_conditions: Set[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a model's readings under a condition of the readers, and those under others.

    `own_answers` has the model's readings, `secondary` those of all models under conditions without
    readers, and `reader_conditions` the conditions of the readers.
    """
    secondary = secondary.loc[secondary["rater_id"] == model]
    first_secondary = secondary.loc[secondary["repeat"] == own_answers["repeat"].min()]
    own_conditions = set(own_answers["condition"].unique())
    with_image = own_conditions.difference(CONDITIONS_WITHOUT_IMAGE)
    primary = min(
        (with_image & reader_conditions) or with_image or own_conditions,
        key=lambda name: (name not in CONDITIONS_WITHOUT_AID, name),
    )
    others = {
        name
        for name in own_conditions - {primary}
        if name in CONDITIONS_WITHOUT_IMAGE or name not in reader_conditions
    }
    others = others if reader_conditions else set()  # needs the readers' cases
    return own_answers.loc[own_answers["condition"] == primary], pd.concat(
        [
            own_answers.loc[own_answers["condition"].isin(others)],
            first_secondary.loc[~first_secondary["condition"].isin(own_conditions)],
        ]
    )


def _compare_conditions(
    bundle: Bundle, primary: pd.DataFrame, other: pd.DataFrame, options: Options
) -> pd.DataFrame:
    """Compare two sets of a model's readings like two raters, over the items in both sets."""
    items = set(primary["item_id"]) & set(other["item_id"])
    sides = [
        part.loc[part["item_id"].isin(items)].assign(rater_id=side, condition="")
        for side, part in zip(_SIDES, (primary, other), strict=True)
    ]
    rater = bundle.raters.loc[bundle.raters["rater_id"] == primary["rater_id"].iloc[0]]
    pair_study = Study(
        Bundle(
            items=bundle.items.loc[bundle.items["item_id"].isin(items)],
            raters=pd.concat([rater.assign(rater_id=side) for side in _SIDES]),
            readings=pd.concat(sides),
        ),
        options,
    )
    matrix = pair_study.matrix
    table = compare_by_task(pair_study, pairs_of(matrix.columns)).reset_index(drop=True)
    answered = (matrix.answers != NO_LETTER).all(axis=1)
    is_same_answer = (matrix.answers[:, 0] == matrix.answers[:, 1]).astype(np.float64)
    rows = []
    for _, _, members in item_groups(matrix):
        is_counted = answered & members
        clusters = matrix.clusters[is_counted]
        mean = mean_over_items(
            is_same_answer[is_counted], clusters, options.alpha, no_items_reason=""
        )
        rows.append([int(is_counted.sum()), *(mean[c] for c in ("estimate", "ci_low", "ci_high"))])
    names = ["n_both_answered", "same_answer", "same_low", "same_high"]
    return table.join(pd.DataFrame(rows, columns=names))


def model_conditions_table(results: Results) -> Iterator[ReportTable]:
    """Show the differences between conditions for each model."""
    names = rater_names(results.bundle)
    rows = rows_of(results, "model_conditions")
    yield report_table(
        name="model-conditions",
        title=t("Models under different conditions"),
        note=t(
            "Accuracy on the cases as the readers saw them minus accuracy under the condition,"
            " overall and by task. Same answer: of the cases answered both times, the share with"
            " the same answer."
        ),
        header=(
            t("Model"),
            t("Shown"),
            t("Cases"),
            "n",
            t("As readers"),
            t("Under this condition"),
            t("Difference and CI"),
            t("Same answer"),
        ),
        rows=[
            (
                (rater_name(names, str(row["model_id"])),),
                (
                    condition_name(str(row["condition_b"])),
                    group_words(row),
                    whole_number(cell_number(row, "n")),
                    percent_cell(cell_number(row, "accuracy_a")),
                    percent_cell(cell_number(row, "accuracy_b")),
                    paired_difference(row),
                    percent_with_range(row, "same_answer", "same_low", "same_high"),
                ),
            )
            for row in rows[:MAX_ROWS]
        ],
        total=len(rows),
    )


def input_figures(results: Results, condition: str) -> Iterator[Figure]:
    """Show the accuracy that models lose under other conditions, in a figure for each."""
    all_rows = model_rows(results.tables["model_conditions"], condition, "condition_a")
    for figure_number, name in enumerate(sorted(all_rows["condition_b"].unique()), start=1):
        rows = with_patient_intervals(all_rows.loc[all_rows["condition_b"] == name])
        yield Figure(
            "robustness",
            file_name("input", figure_number, name),
            t("Models under another condition: {condition}", condition=condition_name(name)),
            _input_caption(rows, name, results.options.confidence_percent),
            differences_chart(
                rows.assign(panel=task_panels(rows)),
                axis_title=t("Accuracy lost, points"),
                names=rater_names(results.bundle),
            ),
        )


def _input_caption(rows: pd.DataFrame, condition: str, percent: str) -> str:
    """Describe the figure of the accuracy that models lose under a condition."""
    clustered = rows["cluster_ci_low"].notna().any()
    return join_sentences(
        [
            t(
                "Accuracy that each model loses under {condition}, compared with the cases as"
                " readers saw them, {cases}, with {percent} % intervals ({methods}).",
                condition=condition_name(condition),
                cases=case_range(rows["n"]),
                percent=localised(percent),
                methods=t("bootstrap over patients")
                if clustered
                else interval_methods(rows, "ci_method"),
            ),
            t("At 0, the model's accuracy is the same under both."),
        ]
    )


_REDEFINED_COLUMNS = (
    Column("accuracy_a", "Accuracy under the first condition.", "proportion"),
    Column("accuracy_b", "Accuracy under the second condition.", "proportion"),
    Column("difference", "Accuracy under the first condition minus the second.", "proportion"),
    Column("only_a_correct", "Items correct only under the first condition.", "count"),
    Column("only_b_correct", "Items correct only under the second condition.", "count"),
)

MODEL_CONDITIONS = Statistic(
    name="model_conditions",
    meaning="A model's answers under the readers' condition compared with another condition.",
    columns=(
        *shared_columns("model_id condition_a condition_b"),
        *columns_like(PAIR_COLUMNS, after={}, redefined=_REDEFINED_COLUMNS),
        Column("n_both_answered", "Items answered under both conditions.", "count"),
        Column("same_answer", "Share of these items with the same answer.", "proportion"),
        Column("same_low", "Lower limit of the interval of `same_answer`.", "proportion"),
        Column("same_high", "Upper limit of the interval of `same_answer`.", "proportion"),
    ),
    compute=model_conditions,
    tables={192: model_conditions_table},
    figures={90: input_figures},
)
