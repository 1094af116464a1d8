"""Two models side by side, overall and task by task: the table `model_pairs.csv`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.arrays import Bools
from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.readings.matrix import ReadingMatrix, reading_matrix
from analysis.statistics.agreement.pairs.pairing import Pair, PairKind, pair_names, pairs_of
from analysis.statistics.columns import COLUMNS
from analysis.statistics.comparison.correctness import given_to_both
from analysis.statistics.comparison.pairs import compared
from analysis.statistics.study import Study, study_of

_ADJUSTED = ("p_adjusted", "family")
OF_A_PAIR = ("by", "group", *(name for name in COLUMNS["comparisons"][4:] if name not in _ADJUSTED))
"""What is said of a pair and a group of items: as of a pair in `comparisons`, nothing adjusted."""


def model_pairs(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Compare the accuracy of every two models, overall and task by task.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        Columns `rater_a, rater_b, condition, by, group, n, accuracy_a, accuracy_b, difference,
        ci_low, ci_high, ci_method, cluster_ci_low, cluster_ci_high, only_a_correct, only_b_correct,
        p_exact, p_mid, p_clustered, clustered_method, undefined_because`. One row a pair of models
        and group: overall (`micro`), then the tasks in order of their names.

    Notes
    -----
    Everything as in `comparisons`, whose rows of these pairs the overall ones repeat. Of two
    versions of a model `only_b_correct` counts what became better with the second, and
    `only_a_correct` what became worse. No p is adjusted for the number of tasks and pairs.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = model_pairs(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": "A", "task": list("ssst")}),
    ...     pd.DataFrame({
    ...         "rater_id": ["M1"] * 4 + ["M2"] * 4, "item_id": list("wxyz") * 2,
    ...         "answer": list("ABBA" "AAAB"),
    ...     }),
    ...     pd.DataFrame({"rater_id": ["M1", "M2"], "rater_kind": "model"}),
    ... ))
    >>> for row in table[["group", "n", "only_a_correct", "only_b_correct"]].values.tolist():
    ...     print(*row)
    micro 4 1 2
    s 3 0 2
    t 1 1 0
    """
    study = study_of(study, options)
    pairs = [one for one in pairs_of(study.matrix.columns) if one.kind is PairKind.MODELS]
    names = pair_names(study.matrix.columns, pairs).drop(columns="pair_kind")
    found = names.join(by_task(study, pairs))
    return found.reset_index(drop=True)[["rater_a", "rater_b", "condition", *OF_A_PAIR]]


def groups_of(matrix: ReadingMatrix) -> Iterator[tuple[str, str, Bools]]:
    """Yield `by`, `group` and which items: all of them, then those of each task."""
    everything = np.ones(len(matrix.item_ids), dtype=np.bool_)
    yield "overall", "micro", everything
    for task, members in matrix.members("task").items():
        of_task = ~everything
        of_task[members] = True
        yield "task", task, of_task


def by_task(study: Study, pairs: Sequence[Pair]) -> pd.DataFrame:
    """Compare pairs over the items given to both, then over those of each task.

    Returns
    -------
    pandas.DataFrame
        Columns `OF_A_PAIR`; one row a pair and group, overall first. The index says which pair.
    """
    matrix, alpha = study.matrix, study.options.alpha
    a, b = (np.array(side, dtype=np.int64) for side in ([p.a for p in pairs], [p.b for p in pairs]))
    parts = [
        compared(matrix, items & those, a[members], b[members], study.weights, alpha)
        .assign(by=by, group=group)
        .set_index(members)
        for by, group, those in groups_of(matrix)
        for items, members in given_to_both(matrix, a, b)
    ]
    if not parts:
        return pd.DataFrame(columns=list(OF_A_PAIR))
    return pd.concat(parts).sort_index(kind="stable")[list(OF_A_PAIR)]


def pair_of(table: pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """Return the rows of `model_pairs` of two models, `a` first; intervals over patients if any.

    Parameters
    ----------
    table : pandas.DataFrame
        What `model_pairs` returned.
    a, b : str
        The models, in either order.

    Returns
    -------
    pandas.DataFrame
        As `table`; `ci_low` and `ci_high` are those over patients where these exist.
    """
    table = over_patients(table)
    there = table.loc[(table["rater_a"] == a) & (table["rater_b"] == b)]
    back = table.loc[(table["rater_a"] == b) & (table["rater_b"] == a)]
    turned = back.rename(columns=_TURNED)
    for column in ("difference", "ci_low", "ci_high"):
        turned[column] = -turned[column]
    return pd.concat([there, turned])[list(table)].reset_index(drop=True)


def over_patients(table: pd.DataFrame) -> pd.DataFrame:
    """Return paired differences with `ci_low` and `ci_high` over patients where these exist."""
    return table.assign(
        ci_low=table["cluster_ci_low"].fillna(table["ci_low"]),
        ci_high=table["cluster_ci_high"].fillna(table["ci_high"]),
    )


_TURNED = {
    **{f"{name}_a": f"{name}_b" for name in ("rater", "accuracy")},
    **{f"{name}_b": f"{name}_a" for name in ("rater", "accuracy")},
    **{"only_a_correct": "only_b_correct", "only_b_correct": "only_a_correct"},
    **{"ci_low": "ci_high", "ci_high": "ci_low"},
}
"""What changes its name where the second model of a pair is put first."""


def only_one_correct(bundle: Bundle, a: str, b: str) -> pd.DataFrame:
    """List the items that one of two raters had right and the other, given them too, had not.

    Returns
    -------
    pandas.DataFrame
        Columns `item_id, condition, correct`, whose answer was; in order of item.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> only_one_correct(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("xyz"), "truth": "A"}),
    ...     pd.DataFrame({
    ...         "rater_id": ["M1"] * 3 + ["M2"] * 3, "item_id": list("xyz") * 2,
    ...         "answer": list("ABB" "BAB"),
    ...     }),
    ...     pd.DataFrame({"rater_id": ["M1", "M2"], "rater_kind": "model"}),
    ... ), "M1", "M2").values.tolist()
    [['x', '', 'M1'], ['y', '', 'M2']]
    """
    readings = bundle.readings.loc[bundle.readings["rater_id"].isin([a, b])]
    matrix = reading_matrix(replace(bundle, readings=readings))
    rows = []
    for pair in pairs_of(matrix.columns):
        both = matrix.given[:, pair.a] & matrix.given[:, pair.b]
        right = matrix.correct[:, pair.a]
        for item in np.flatnonzero(both & (right != matrix.correct[:, pair.b])):
            who = matrix.columns[pair.a if right[item] else pair.b].rater_id
            rows.append((matrix.item_ids[item], pair.condition, who))
    table = pd.DataFrame(rows, columns=["item_id", "condition", "correct"], dtype=object)
    return table.sort_values(["item_id", "condition"], ignore_index=True)
