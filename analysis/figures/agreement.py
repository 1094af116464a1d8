"""Charts of agreement: matrices of pairs of raters, and agreement in groups of raters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.bundle.model import PairKind
from analysis.figures.drawing.axes import (
    MAX_GROUP_LENGTH,
    RaterName,
    fit_axis,
    interval_text,
    localise_signed,
    name_of,
    rater_labels,
    rows_in_condition,
    shorten,
)
from analysis.figures.drawing.chart import (
    Axis,
    Chart,
    HeatMap,
    Ink,
    Key,
    Label,
    Mark,
    Panel,
    ReferenceLine,
    Tick,
)
from analysis.figures.drawing.colours import AGREEMENT_SCALE, COUNT_SCALE
from analysis.figures.forest import Estimate, Rows, ends_of, forest, number_column
from analysis.translation import later, localised, t, translate_pieces, translated

# Measures that are shares of items, so that their scale begins at 0.
SHARE_MEASURES = ("raw", "same_wrong")
MAX_WITH_NUMBERS = 24
MAX_WITH_HOVER = 60
MAX_NAMED = 60
# Maximum number of raters for which "to" is written between the limits of intervals.
MAX_WITH_WORDS = 12
CELL_MM = 16.0
INTERVAL_COLUMNS = ("estimate", "ci_low", "ci_high")
# An estimate and the limits of its interval.
Interval = tuple[float, float, float]
UNDEFINED_INTERVAL: Interval = (math.nan, math.nan, math.nan)
REFERENCE = "\0"
"""The id of the reference standard among raters, whose own ids cannot contain this character."""


def kappa_matrix_chart(
    pairs: pd.DataFrame,
    *,
    measure: str = "kappa_letters",
    condition: str = "",
    scope: str = "all",
    names: Mapping[str, RaterName] | None = None,
    model_pairs: pd.DataFrame | None = None,
) -> Chart:
    """Chart the agreement of each pair of raters: estimates below the diagonal, intervals above it.

    The chart is a square heat map in the order of `matrix_order`. Columns are named by the numbers
    of the rows; undefined cells and the diagonal are grey. Pairs of models whose only condition is
    another one are in every matrix. With more than 24 raters, cells have no numbers; with more than
    60, there is no hover text and not every row is named. The agreement with the reference standard
    (`model_pairs`, from `truth_pairs`) is the last row and column, separated by a line.
    """
    rows_shown = pairs.loc[(pairs["measure"] == measure) & (pairs["scope"] == scope)]
    rows = pairs_in_condition(rows_shown, condition)
    readers, models = matrix_order(pairs, condition=condition, scope=scope)
    edges = [len(readers), len(readers + models)]
    raters = readers + models
    if model_pairs is not None and len(model_pairs):
        rows = pd.concat([rows, model_pairs])
        raters = [*raters, REFERENCE]
        names = {**(names or {}), REFERENCE: reference_name()}
    n = len(raters)
    known = pair_estimates(rows)
    grid = [[known.get((a, b), UNDEFINED_INTERVAL) for b in raters] for a in raters]
    share = measure in SHARE_MEASURES
    cells = HeatMap(
        values=tuple(tuple(estimate for estimate, _, _ in row) for row in grid),
        low=0 if share else -1,
        high=1,
        scale=COUNT_SCALE if share else AGREEMENT_SCALE,
        texts=_cell_texts(grid) if n <= MAX_WITH_NUMBERS else (),
        hover=_hover_texts(rows, raters, names) if n <= MAX_WITH_HOVER else (),
        labels=(0, 0.25, 0.5, 0.75, 1) if share else (-1, -0.5, 0, 0.5, 1),
        names=t("{first} and {second}", first="%{y}", second="%{x}") + ": %{z:.2f}",
    )
    labels = [
        _with_number(label, i) for i, label in enumerate(rater_labels(raters, names), start=1)
    ]
    spaced = -(-n // MAX_NAMED)
    columns = [Label(text=f"({i})") for i in range(1, n + 1)] if n <= MAX_WITH_NUMBERS else []
    panel = Panel(
        x=Axis(
            low=-0.5,
            high=n - 0.5,
            ticks=tuple(Tick(at=i, label=label) for i, label in enumerate(columns)),
            grid=False,
        ),
        y=Axis(
            low=n - 0.5,
            high=-0.5,
            ticks=tuple(
                Tick(at=i, label=label) for i, label in enumerate(labels) if i % spaced == 0
            ),
            grid=False,
        ),
        layers=(cells, *_borders(edges, n)),
        height_mm=max(n, 3) * CELL_MM,
    )
    return Chart(rows=((panel,),), stretches=False, square=True)


def reference_name() -> RaterName:
    """Return the name of the reference standard among raters."""
    return RaterName(label=t("Reference standard"), simulated=False)


def matrix_order(
    pairs: pd.DataFrame, *, condition: str = "", scope: str = "all"
) -> tuple[list[str], list[str]]:
    """Return the readers and the models of a condition, each in order of id.

    All matrices use this order, so that the same pair is in the same cell.
    """
    return _raters(pairs_in_condition(pairs.loc[pairs["scope"] == scope], condition))


def pairs_in_condition(rows: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Return the pairs of a condition, and the pairs of its models under another condition.

    Models whose only condition is another one are also compared with the readers of this condition.
    The pairs of such models follow the others, each pair once.
    """
    is_own = rows["condition"] == condition
    models = set(rows.loc[is_own & (rows["pair_kind"] == PairKind.MIXED), "rater_b"])
    is_model_pair = (rows["pair_kind"] == PairKind.MODELS) & rows["rater_a"].isin(models)
    own_rows, among_models = (
        rows.loc[is_own],
        rows.loc[is_model_pair & rows["rater_b"].isin(models) & ~is_own],
    )
    both = pd.concat([own_rows, among_models])
    return both.drop_duplicates(["rater_a", "rater_b"])


def truth_pairs(
    truth: pd.DataFrame, raters: Sequence[str], measure: str, scope: str, condition: str
) -> pd.DataFrame:
    """Return the agreement of raters with the reference standard, as pairs with a further rater.

    There are no rows if no agreement is defined.
    """
    rows = truth.loc[(truth["measure"] == measure) & (truth["scope"] == scope)]
    rows = rows_in_condition(rows.loc[rows["rater_id"].isin(raters)], condition)
    shown = rows if rows["estimate"].notna().any() else rows.iloc[:0]
    return shown.rename(columns={"rater_id": "rater_a"}).assign(rater_b=REFERENCE)


def _raters(rows: pd.DataFrame) -> tuple[list[str], list[str]]:
    kinds = {PairKind.READERS: (0, 0), PairKind.MIXED: (0, 1), PairKind.MODELS: (1, 1)}
    groups: tuple[set[str], set[str]] = (set(), set())
    for kind, part in rows.groupby("pair_kind"):
        a, b = kinds[PairKind(str(kind))]
        groups[a].update(part["rater_a"])
        groups[b].update(part["rater_b"])
    return sorted(groups[0]), sorted(groups[1])


def pair_estimates(rows: pd.DataFrame) -> dict[tuple[str, str], Interval]:
    """Return the estimate of each pair with its limits, for both orders of the raters."""
    columns = zip(*(rows[c] for c in ("rater_a", "rater_b", *INTERVAL_COLUMNS)), strict=True)
    one_way = {(a, b): interval for a, b, *interval in columns}
    both = {**{(b, a): interval for (a, b), interval in one_way.items()}, **one_way}
    return {pair: (value, low, high) for pair, (value, low, high) in both.items()}


def _with_number(label: Label, number: int) -> Label:
    otherwise = f"{label.fallback} ({number})" if label.fallback else ""
    return Label(text=f"{label.text} ({number})", fallback=otherwise)


def _cell_texts(grid: Sequence[Sequence[Interval]]) -> tuple[tuple[str, ...], ...]:
    words = t("{low} to {high}", low="", high="").rstrip() + "\n"
    between = words if len(grid) <= MAX_WITH_WORDS else "\n"
    return tuple(
        tuple(_cell_text(i - j, *cell, between) for j, cell in enumerate(row))
        for i, row in enumerate(grid)
    )


def _cell_text(side: int, estimate: float, low: float, high: float, between: str) -> str:
    """Write the estimate below the diagonal (`side` > 0) and the interval above it (`side` < 0)."""
    if not side:
        return ""
    ends = (estimate,) if side > 0 else (low, high)
    if any(map(math.isnan, ends)):
        return "–"
    return between.join(localise_signed(f"{end:.2f}") for end in ends)


def _hover_texts(
    rows: pd.DataFrame, raters: Sequence[str], names: Mapping[str, RaterName] | None
) -> tuple[tuple[str, ...], ...]:
    texts = {}
    for row in rows.to_dict("records"):
        a, b = row["rater_a"], row["rater_b"]
        texts[a, b] = texts[b, a] = _hover_text(row, names)
    return tuple(tuple(texts.get((a, b), "") for b in raters) for a in raters)


def _hover_text(row: Mapping[Any, Any], names: Mapping[str, RaterName] | None) -> str:
    a, b = (name_of(names, str(row[key])).on_figure.text for key in ("rater_a", "rater_b"))
    estimate, low, high = (float(row[key]) for key in ("estimate", "ci_low", "ci_high"))
    value = interval_text(estimate, low, high, decimals=3)
    lines = [t("{first} and {second}", first=a, second=b), f"{value}, n = {row['n']}"]
    return "\n".join([*lines, *filter(None, [translate_pieces(str(row["undefined_because"]))])])


def _borders(edges: Sequence[int], n: int) -> Iterator[ReferenceLine]:
    """Yield the lines between readers, models and the reference standard."""
    for edge in sorted({edge for edge in edges if 0 < edge < n}):
        yield ReferenceLine(at=edge - 0.5, width_pt=1.0)
        yield ReferenceLine(at=edge - 0.5, vertical=False, width_pt=1.0)


GROUP_TITLES: Mapping[str, str] = {
    "brennan_prediger": later("Brennan-Prediger"),
    "error_consistency": later("Error consistency"),
    "fleiss_kappa_letters": later("Fleiss' kappa on letters"),
    "conger_kappa_letters": later("Conger's kappa on letters"),
    "krippendorff_alpha_letters": later("Krippendorff's alpha on letters"),
    "ac1_letters": later("Gwet's AC1 on letters"),
}
TASK_MEASURES = ("brennan_prediger", "error_consistency")
# Vertical shift in rows, ink, mark, whether it is hollow, and words in the key.
RaterStyle = tuple[float, Ink, Mark, bool, str]
STYLES_BY_RATERS: Mapping[str, RaterStyle] = {
    "readers": (-0.28, Ink.READER, Mark.CIRCLE, False, later("Readers among themselves")),
    "models": (0.28, Ink.MODEL, Mark.DIAMOND, False, later("Models among themselves")),
    "all": (0.0, Ink.MIXED, Mark.SQUARE, False, later("All raters together")),
    "readers_models": (0.0, Ink.MIXED, Mark.SQUARE, True, later("Readers with models")),
}
ROW_HEIGHT = 1.9
NUMBERED_ROW_HEIGHT = 2.5


def group_agreement_chart(groups: pd.DataFrame, *, condition: str = "") -> Chart | None:
    """Chart every measure of agreement over all items for readers, models and all raters.

    None is returned if nothing is defined.
    """
    rows = _condition_rows(groups, condition)
    rows = rows.loc[rows["scope"] == "all"]
    known = dict.fromkeys(rows["measure"])
    measures = [*(m for m in GROUP_TITLES if m in known), *sorted(set(known) - set(GROUP_TITLES))]
    if not measures:
        return None
    estimates = [
        _estimate(row, str(row["raters"]), measures.index(row["measure"]))
        for row in rows.to_dict("records")
    ]
    axis = fit_axis([*ends_of(estimates), 0.0], title=t("Agreement beyond chance"), highest=1.0)
    labels = [Label(text=translated(GROUP_TITLES.get(m, m.replace("_", " ")))) for m in measures]
    plot = forest(
        Rows(labels=labels, height=NUMBERED_ROW_HEIGHT),
        estimates,
        axis,
        background=[ReferenceLine(at=0)],
    )
    side = number_column(plot, estimates, title=t("Estimate and interval"))
    return Chart(rows=((plot, side),), key=_key(rows["raters"]))


def task_agreement_chart(
    groups: pd.DataFrame, between: pd.DataFrame, *, condition: str = ""
) -> Chart | None:
    """Chart agreement by task for readers, models, and readers with models.

    There is a panel per measure. None is returned if no task has a defined agreement.
    """
    rows = _condition_rows(groups, condition)
    rows = rows.loc[rows["measure"].isin(TASK_MEASURES) & (rows["raters"] != "all")]
    mixed = between.loc[
        (between["condition"] == condition)
        & between["measure"].isin(TASK_MEASURES)
        & between["readers_models"].notna()
    ]
    scopes = [s for s in dict.fromkeys([*rows["scope"], *mixed["scope"]]) if s.startswith("task=")]
    if not scopes:
        return None
    scopes = ["all", *sorted(scopes)]
    by_measure: dict[str, list[Estimate]] = {}
    for measure in TASK_MEASURES:
        groups_shown = rows.loc[(rows["measure"] == measure) & rows["scope"].isin(scopes)]
        pairs = mixed.loc[(mixed["measure"] == measure) & mixed["scope"].isin(scopes)]
        by_measure[measure] = [
            *(
                _estimate(row, row["raters"], scopes.index(row["scope"]))
                for row in groups_shown.to_dict("records")
            ),
            *(_mixed_estimate(row, scopes.index(row["scope"])) for row in pairs.to_dict("records")),
        ]
    ends = [end for estimates in by_measure.values() for end in ends_of(estimates)]
    axis = fit_axis([*ends, 0.0], title=t("Agreement beyond chance"), highest=1.0)
    labels = [Label(text=scope_text(scope)) for scope in scopes]
    panels = [
        forest(
            Rows(labels=labels, labelled=i == 0, height=ROW_HEIGHT),
            estimates,
            axis,
            background=[ReferenceLine(at=0)],
            title=translated(GROUP_TITLES[measure]),
        )
        for i, (measure, estimates) in enumerate(by_measure.items())
    ]
    kinds = [*rows["raters"], *(["readers_models"] if len(mixed) else [])]
    return Chart(rows=(tuple(panels),), key=_key(kinds))


def scope_text(scope: str) -> str:
    """Return a scope in words.

    Examples
    --------
    >>> scope_text("all"), scope_text("task=Negation"), scope_text("option_set=yes/no")
    ('All cases', 'Negation', 'yes/no')
    """
    return t("All cases") if scope == "all" else shorten(scope.split("=", 1)[-1], MAX_GROUP_LENGTH)


def _condition_rows(groups: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Return the rows of a condition, and those of models whose only condition is another one."""
    own_groups = groups.loc[groups["condition"] == condition]
    if (own_groups["raters"] == "models").any():
        both = own_groups
    else:
        model_groups = groups.loc[groups["raters"] == "models"]
        single = model_groups["condition"].nunique() == 1
        both = pd.concat([own_groups, model_groups]) if single and len(own_groups) else own_groups
    return both.loc[both["estimate"].notna()]


def _estimate(row: Mapping[Any, Any], raters: str, place: int) -> Estimate:
    shift, ink, mark, hollow, words = STYLES_BY_RATERS[raters]
    value, low, high = (float(row[c]) for c in ("estimate", "ci_low", "ci_high"))
    text = interval_text(value, low, high, decimals=2)
    measure = translated(GROUP_TITLES.get(row["measure"], row["measure"]))
    hover = [
        f"{translated(words)} ({row['n_raters']})",
        f"{measure}, {scope_text(row['scope'])}",
        t(
            "{value}, {n} items",
            value=interval_text(value, low, high, decimals=3),
            n=str(row["n_items"]),
        ),
        translate_pieces(str(row["method"])),
    ]
    return Estimate(
        row=place + shift,
        ink=ink,
        mark=mark,
        hollow=hollow,
        value=value,
        low=low,
        high=high,
        hover="\n".join(hover),
        text=text,
    )


def _mixed_estimate(row: Mapping[Any, Any], place: int) -> Estimate:
    shift, ink, mark, hollow, words = STYLES_BY_RATERS["readers_models"]
    value = float(row["readers_models"])
    hover = [
        t(
            "{who} ({readers} and {models})",
            who=translated(words),
            readers=str(row["n_readers"]),
            models=str(row["n_models"]),
        ),
        f"{translated(GROUP_TITLES[row['measure']])}, {scope_text(row['scope'])}",
        t(
            "{value}, mean over the pairs, {n} items",
            value=localised(f"{value:.3f}"),
            n=str(row["n_items"]),
        ),
    ]
    return Estimate(
        row=place + shift,
        ink=ink,
        mark=mark,
        hollow=hollow,
        value=value,
        low=math.nan,
        high=math.nan,
        hover="\n".join(hover),
    )


def _key(kinds: Sequence[str] | pd.Series[Any]) -> tuple[Key, ...]:
    present = set(kinds)
    return tuple(
        Key(label=translated(words), ink=ink, mark=mark, hollow=hollow)
        for kind, (_, ink, mark, hollow, words) in STYLES_BY_RATERS.items()
        if kind in present
    )
