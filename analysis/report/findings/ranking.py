"""How sure the first place is, and whether micro and macro put raters in the same order."""

from __future__ import annotations

import math

from analysis.report.findings.accuracy import limits
from analysis.report.findings.finding import (
    MOST_CONDITIONS,
    Finding,
    Theme,
    confidence_percent,
    named,
)
from analysis.report.wording.numbers import listed, sentences, span
from analysis.report.wording.rows import Row, conditions_in, number, rows_of, under
from analysis.report.wording.verdicts import Verdict, verdict
from analysis.results import Results
from analysis.translation import t, tn


def ranking_findings(results: Results) -> list[Finding]:
    """Say who is first, over which ranks the interval reaches, and what changes with macro."""
    texts = []
    for condition in conditions_in(results, "leaderboard")[:MOST_CONDITIONS]:
        texts += _condition(results, condition)
    if not texts:
        texts = _order(results)
    return [Finding(theme=Theme.RANKING, text=text) for text in texts]


def _condition(results: Results, condition: str) -> list[str]:
    micro, macro = (
        {
            str(row["rater_id"]): row
            for row in rows_of(
                results, "leaderboard", condition=condition, by="overall", group=group
            )
            if not math.isnan(number(row, "rank"))
        }
        for group in ("micro", "macro")
    )
    if len(micro) < 2:
        return []
    first = _first(results, micro, condition)
    texts = [
        t("Highest micro accuracy{where}: {first}.", where=under(results, condition), first=first)
    ]
    moved = [
        rater
        for rater in micro
        if rater in macro and number(micro[rater], "rank") != number(macro[rater], "rank")
    ]
    if moved:
        texts.append(
            tn(
                "Highest macro accuracy (every task weighted equally): {first}; {n} rater changes"
                " place between the two, so a ranking must state which it uses.",
                "Highest macro accuracy (every task weighted equally): {first}; {n} raters change"
                " place between the two, so a ranking must state which it uses.",
                len(moved),
                first=_first(results, macro),
            )
        )
    return [sentences(texts)]


def _first(results: Results, rows: dict[str, Row], condition: str | None = None) -> str:
    """Name who is first, and say whether that is certain.

    It is where every paired interval against another rater excludes 0. There is one for
    micro accuracy alone: without a condition none is looked for.
    """
    best = min(number(row, "rank") for row in rows.values())
    leaders = sorted(rater for rater, row in rows.items() if number(row, "rank") == best)
    names = listed([named(results, rater) for rater in leaders[:2]])
    row = rows[leaders[0]]
    low, high = number(row, "rank_low"), number(row, "rank_high")
    if len(leaders) > 2:
        return tn(
            "{names} (and {n} other) with the same accuracy",
            "{names} (and {n} others) with the same accuracy",
            len(leaders) - 2,
            names=names,
        )
    if len(leaders) > 1:
        return t("{names} with the same accuracy", names=names)
    if math.isnan(low) or math.isnan(high):
        return t("{name}; its rank has no interval", name=names)
    ranks = span(f"{low:.0f}", f"{high:.0f}") if high > low else f"{low:.0f}"
    told = {"name": names, "percent": confidence_percent(results), "ranks": ranks}
    if condition is None:
        return t("{name}; the {percent} % interval of its rank is {ranks}", **told)
    open_ = [
        other
        for other in rows
        if other != leaders[0] and not _is_ahead(results, leaders[0], other, condition)
    ]
    if not open_ and high == best:
        return t("{name}; every paired interval against another rater excludes 0", name=names)
    if not open_:
        return t(
            "{name}; the {percent} % interval of its rank is {ranks}, so first place is not"
            " certain",
            **told,
        )
    return t(
        "{name}; no difference is shown from {others}, so first place is not certain",
        name=names,
        others=listed([named(results, other) for other in open_], most=3),
    )


def _is_ahead(results: Results, leader: str, other: str, condition: str) -> bool:
    """Tell whether the paired interval of two raters lies on the leader's side of 0."""
    for a, b in ((leader, other), (other, leader)):
        rows = rows_of(results, "comparisons", rater_a=a, rater_b=b)
        # Two models may have been run under a condition of their own.
        here = [row for row in rows if row["condition"] == condition] or rows
        if len(here) == 1:
            low, high = limits(here[0])
            return verdict(low, high) is (Verdict.MORE if a == leader else Verdict.FEWER)
    return False


def _order(results: Results) -> list[str]:
    accuracy = results.tables["accuracy"]
    overall = accuracy.loc[accuracy["by"] == "overall"]
    wide = overall.pivot(index=["rater_id", "condition"], columns="group", values="accuracy")
    wide = wide.dropna().round(12)
    if len(wide) < 2 or (wide["micro"].rank() == wide["macro"].rank()).all():
        return []
    return [
        t(
            "The order of the raters is not the same by micro (every case weighted equally) and by"
            " macro accuracy (every task weighted equally): a ranking must state which it uses."
        )
    ]
