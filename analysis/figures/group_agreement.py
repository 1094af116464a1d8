"""Agreement within readers, within models and between the two: overall and by task."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.figures.drawing.axes import fitted_axis, interval_text
from analysis.figures.drawing.chart import Chart, Ink, Key, Label, Mark, Rule
from analysis.figures.drawing.names import LONGEST_GROUP, shorten
from analysis.figures.forest import Estimate, ends_of, forest, numbers
from analysis.translation import later, pieces, said, t, written

GROUP_TITLES: Mapping[str, str] = {
    "brennan_prediger": later("Brennan-Prediger"),
    "error_consistency": later("Error consistency"),
    "fleiss_kappa_letters": later("Fleiss' kappa on letters"),
    "conger_kappa_letters": later("Conger's kappa on letters"),
    "krippendorff_alpha_letters": later("Krippendorff's alpha on letters"),
    "ac1_letters": later("Gwet's AC1 on letters"),
}
BY_TASK = ("brennan_prediger", "error_consistency")
# Shift on the row, ink, mark, hollow, words of the key.
Look = tuple[float, Ink, Mark, bool, str]
LOOKS: Mapping[str, Look] = {
    "readers": (-0.28, Ink.READER, Mark.CIRCLE, False, later("Readers among themselves")),
    "models": (0.28, Ink.MODEL, Mark.DIAMOND, False, later("Models among themselves")),
    "all": (0.0, Ink.MIXED, Mark.SQUARE, False, later("All raters together")),
    "readers_models": (0.0, Ink.MIXED, Mark.SQUARE, True, later("Readers with models")),
}
ROWS_HIGH = 1.9
WITH_NUMBERS_HIGH = 2.5


def group_agreement_chart(groups: pd.DataFrame, *, condition: str = "") -> Chart | None:
    """Chart every group measure over all items: readers, models and all raters.

    None where nothing is defined.
    """
    rows = _shown(groups, condition)
    rows = rows.loc[rows["scope"] == "all"]
    known = dict.fromkeys(rows["measure"])
    measures = [*(m for m in GROUP_TITLES if m in known), *sorted(set(known) - set(GROUP_TITLES))]
    if not measures:
        return None
    estimates = [
        _estimate(row, str(row["raters"]), measures.index(row["measure"]))
        for row in rows.to_dict("records")
    ]
    axis = fitted_axis([*ends_of(estimates), 0.0], title=t("Agreement beyond chance"), most=1.0)
    plot = forest(
        [Label(text=said(GROUP_TITLES.get(m, m.replace("_", " ")))) for m in measures],
        estimates,
        axis,
        behind=[Rule(at=0)],
        rows_high=WITH_NUMBERS_HIGH,
    )
    side = numbers(plot, estimates, title=t("Estimate and interval"))
    return Chart(rows=((plot, side),), key=_key(rows["raters"]))


def task_agreement_chart(
    groups: pd.DataFrame, between: pd.DataFrame, *, condition: str = ""
) -> Chart | None:
    """Chart agreement by task: readers, models, and readers with models.

    A panel a measure; None where no task has a defined agreement.
    """
    rows = _shown(groups, condition)
    rows = rows.loc[rows["measure"].isin(BY_TASK) & (rows["raters"] != "all")]
    mixed = between.loc[
        (between["condition"] == condition)
        & between["measure"].isin(BY_TASK)
        & between["readers_models"].notna()
    ]
    scopes = [s for s in dict.fromkeys([*rows["scope"], *mixed["scope"]]) if s.startswith("task=")]
    if not scopes:
        return None
    scopes = ["all", *sorted(scopes)]
    found: dict[str, list[Estimate]] = {}
    for measure in BY_TASK:
        here = rows.loc[(rows["measure"] == measure) & rows["scope"].isin(scopes)]
        pairs = mixed.loc[(mixed["measure"] == measure) & mixed["scope"].isin(scopes)]
        found[measure] = [
            *(
                _estimate(row, row["raters"], scopes.index(row["scope"]))
                for row in here.to_dict("records")
            ),
            *(_mixed(row, scopes.index(row["scope"])) for row in pairs.to_dict("records")),
        ]
    ends = [end for estimates in found.values() for end in ends_of(estimates)]
    axis = fitted_axis([*ends, 0.0], title=t("Agreement beyond chance"), most=1.0)
    labels = [Label(text=scope_text(scope)) for scope in scopes]
    panels = [
        forest(
            labels,
            estimates,
            axis,
            behind=[Rule(at=0)],
            title=said(GROUP_TITLES[measure]),
            shown=i == 0,
            rows_high=ROWS_HIGH,
        )
        for i, (measure, estimates) in enumerate(found.items())
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
    return t("All cases") if scope == "all" else shorten(scope.split("=", 1)[-1], LONGEST_GROUP)


def _shown(groups: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Return the condition's rows, and those of models that were run under another or none."""
    here = groups.loc[groups["condition"] == condition]
    if (here["raters"] == "models").any():
        both = here
    else:
        elsewhere = groups.loc[groups["raters"] == "models"]
        single = elsewhere["condition"].nunique() == 1
        both = pd.concat([here, elsewhere]) if single and len(here) else here
    return both.loc[both["estimate"].notna()]


def _estimate(row: Mapping[Any, Any], raters: str, place: int) -> Estimate:
    shift, ink, mark, hollow, words = LOOKS[raters]
    value, low, high = (float(row[c]) for c in ("estimate", "ci_low", "ci_high"))
    text = interval_text(value, low, high, decimals=2)
    measure = said(GROUP_TITLES.get(row["measure"], row["measure"]))
    hover = [
        f"{said(words)} ({row['n_raters']})",
        f"{measure}, {scope_text(row['scope'])}",
        t(
            "{value}, {n} items",
            value=interval_text(value, low, high, decimals=3),
            n=str(row["n_items"]),
        ),
        pieces(str(row["method"])),
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


def _mixed(row: Mapping[Any, Any], place: int) -> Estimate:
    shift, ink, mark, hollow, words = LOOKS["readers_models"]
    value = float(row["readers_models"])
    hover = [
        t(
            "{who} ({readers} and {models})",
            who=said(words),
            readers=str(row["n_readers"]),
            models=str(row["n_models"]),
        ),
        f"{said(GROUP_TITLES[row['measure']])}, {scope_text(row['scope'])}",
        t(
            "{value}, mean over the pairs, {n} items",
            value=written(f"{value:.3f}"),
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
        Key(label=said(words), ink=ink, mark=mark, hollow=hollow)
        for kind, (_, ink, mark, hollow, words) in LOOKS.items()
        if kind in present
    )
