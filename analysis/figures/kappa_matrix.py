"""The matrix of agreement between every two raters, as an annotated heat map."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering

from analysis.figures.drawing.axes import interval_text, rater_labels, signed
from analysis.figures.drawing.chart import Axis, Cells, Chart, Panel, Rule, Tick
from analysis.figures.drawing.look import AGREEMENT_SCALE
from analysis.figures.drawing.names import RaterName, name_of
from analysis.statistics.agreement.pairs.pairing import PairKind

MEASURE_TITLES: Mapping[str, str] = {
    "brennan_prediger": "Brennan-Prediger",
    "error_consistency": "Error consistency",
    "kappa_letters": "Cohen's kappa on letters",
    "raw": "Raw agreement",
    "same_wrong": "Same wrong answer",
}
# Its order of raters is that of every matrix.
HEADLINE = "brennan_prediger"
MOST_WITH_NUMBERS = 24
MOST_WITH_HOVER = 60
CELL_MM = 9.2


def kappa_matrix_chart(
    pairs: pd.DataFrame,
    *,
    measure: str = "brennan_prediger",
    condition: str = "",
    scope: str = "all",
    names: Mapping[str, RaterName] | None = None,
) -> Chart:
    """Chart the agreement of every two raters, with the interval on hover.

    Pairs of models that have another single condition stand in each. A square heat map in the order
    of `matrix_order`; undefined cells and the diagonal are grey. Over 24 raters the numbers are
    left out, over 60 the texts on hover as well.
    """
    wanted = pairs.loc[(pairs["measure"] == measure) & (pairs["scope"] == scope)]
    rows = pairs_in_condition(wanted, condition)
    known = _estimates(rows)
    kinds = matrix_order(pairs, measure=measure, condition=condition, scope=scope)
    raters = [rater for kind in kinds for rater in kind]
    n = len(raters)
    values = [[known.get((a, b), math.nan) for b in raters] for a in raters]
    labels = rater_labels(raters, names)
    ticks = tuple(Tick(at=i, label=label) for i, label in enumerate(labels))
    cells = Cells(
        values=tuple(tuple(row) for row in values),
        low=-1,
        high=1,
        scale=AGREEMENT_SCALE,
        texts=_texts(values) if n <= MOST_WITH_NUMBERS else (),
        hover=_hovers(rows, raters, names) if n <= MOST_WITH_HOVER else (),
        labels=(-1, -0.5, 0, 0.5, 1),
    )
    panel = Panel(
        x=Axis(low=-0.5, high=n - 0.5, ticks=ticks, grid=False, slanted=True),
        y=Axis(low=n - 0.5, high=-0.5, ticks=ticks, grid=False),
        layers=(cells, *_border(len(kinds[0]), len(kinds[1]))),
        height_mm=max(n, 3) * CELL_MM,
    )
    return Chart(rows=((panel,),), stretches=False, square=True)


def matrix_order(
    pairs: pd.DataFrame,
    *,
    measure: str = HEADLINE,
    condition: str = "",
    scope: str = "all",
) -> tuple[list[str], list[str]]:
    """Return the readers and the models in the order of the condition's matrices.

    Each kind with alike raters side by side. Alike is who agrees by Brennan-Prediger, whatever the
    measure, so that the matrices of a condition can be compared cell by cell; by the measure itself
    where the pairs hold no Brennan-Prediger.
    """
    here = pairs.loc[pairs["scope"] == scope]
    rows = pairs_in_condition(here.loc[here["measure"] == measure], condition)
    headline = pairs_in_condition(here.loc[here["measure"] == HEADLINE], condition)
    known = _estimates(headline if len(headline) else rows)
    readers, models = _raters(rows)
    return by_likeness(readers, known), by_likeness(models, known)


def pairs_in_condition(rows: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Return the condition's pairs, and those of its models from the condition they were run under.

    A model with a condition of its own is compared with these readers; the pairs of such models
    stand beside them, once.
    """
    here = rows["condition"] == condition
    models = set(rows.loc[here & (rows["pair_kind"] == PairKind.MIXED), "rater_b"])
    among = (rows["pair_kind"] == PairKind.MODELS) & rows["rater_a"].isin(models)
    beside = rows.loc[among & rows["rater_b"].isin(models) & ~here]
    both = pd.concat([rows.loc[here], beside])
    return both.drop_duplicates(["rater_a", "rater_b"])


def _raters(rows: pd.DataFrame) -> tuple[list[str], list[str]]:
    kinds = {PairKind.READERS: (0, 0), PairKind.MIXED: (0, 1), PairKind.MODELS: (1, 1)}
    groups: tuple[set[str], set[str]] = (set(), set())
    for kind, part in rows.groupby("pair_kind"):
        a, b = kinds[PairKind(str(kind))]
        groups[a].update(part["rater_a"])
        groups[b].update(part["rater_b"])
    return sorted(groups[0]), sorted(groups[1])


def _estimates(rows: pd.DataFrame) -> dict[tuple[str, str], float]:
    one_way = dict(
        zip(zip(rows["rater_a"], rows["rater_b"], strict=True), rows["estimate"], strict=True)
    )
    return {**{(b, a): value for (a, b), value in one_way.items()}, **one_way}


def _texts(values: Sequence[Sequence[float]]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(
            "" if i == j else "–" if np.isnan(value) else signed(f"{value:.2f}")
            for j, value in enumerate(row)
        )
        for i, row in enumerate(values)
    )


def _hovers(
    rows: pd.DataFrame, raters: Sequence[str], names: Mapping[str, RaterName] | None
) -> tuple[tuple[str, ...], ...]:
    texts = {}
    for row in rows.to_dict("records"):
        a, b = row["rater_a"], row["rater_b"]
        texts[a, b] = texts[b, a] = _hover(row, names)
    return tuple(tuple(texts.get((a, b), "") for b in raters) for a in raters)


def _hover(row: Mapping[Any, Any], names: Mapping[str, RaterName] | None) -> str:
    a, b = (name_of(names, str(row[key])).on_figure.text for key in ("rater_a", "rater_b"))
    estimate, low, high = (float(row[key]) for key in ("estimate", "ci_low", "ci_high"))
    lines = [f"{a} and {b}", f"{interval_text(estimate, low, high, decimals=3)}, n = {row['n']}"]
    return "\n".join([*lines, *filter(None, [str(row["undefined_because"])])])


def _border(n_readers: int, n_models: int) -> tuple[Rule, ...]:
    """Draw the line between readers and models."""
    if not n_readers or not n_models:
        return ()
    edge = n_readers - 0.5
    return Rule(at=edge, width_pt=1.0), Rule(at=edge, upright=False, width_pt=1.0)


# Agreements that differ by less are taken for the same, so that the order does not hang on the
# last digit of a sum.
DIGITS = 9


def by_likeness(raters: Sequence[str], agreement: Mapping[tuple[str, str], float]) -> list[str]:
    """Order raters so that neighbours agree: average linkage with optimal leaf ordering [1]_.

    Parameters
    ----------
    raters : sequence of str
        In any order; the result does not depend on it.
    agreement : mapping of (str, str) to float
        Agreement of two raters, at most 1; absent or nan where it is undefined.

    Returns
    -------
    list of str
        The raters, turned so that of both ends the one earlier by name stands first.

    Notes
    -----
    The distance is 1 minus the agreement. An undefined one counts as the largest that is known: it
    says nothing for putting the two together. Without any, the order is that of the ids.

    References
    ----------
    .. [1] Bar-Joseph Z, Gifford DK, Jaakkola TS. Fast optimal leaf ordering for hierarchical
       clustering. Bioinformatics 2001;17(Suppl 1):S22-S29.
       doi:10.1093/bioinformatics/17.suppl_1.s22

    Examples
    --------
    >>> by_likeness("abc", {("a", "c"): 0.9, ("a", "b"): 0.1, ("b", "c"): 0.2})
    ['a', 'c', 'b']
    """
    ordered = sorted(raters)
    upper = [
        agreement.get((a, b), agreement.get((b, a), math.nan))
        for i, a in enumerate(ordered)
        for b in ordered[i + 1 :]
    ]
    distance = np.round(1 - np.array(upper, dtype=float), DIGITS)
    if len(ordered) < 3 or np.isnan(distance).all():
        return ordered
    distance = np.where(np.isnan(distance), np.nanmax(distance), distance)
    tree = optimal_leaf_ordering(linkage(distance, "average"), distance)
    leaves = [ordered[i] for i in leaves_list(tree)]
    return leaves if leaves[0] < leaves[-1] else leaves[::-1]
