"""The highest and the lowest accuracy of readers and of models, and how sure the first place is."""

from __future__ import annotations

import math

from analysis.bundle.model import PairKind, RaterKind
from analysis.presentation.wording import (
    Row,
    clauses,
    conditions_in,
    in_a_row,
    listed,
    number,
    percent,
    rounded,
    rows_of,
    sentences,
    span,
    under,
)
from analysis.report.findings.finding import (
    MOST_CONDITIONS,
    Finding,
    Scale,
    Theme,
    confidence_percent,
    named,
    points,
)
from analysis.results import Results
from analysis.statistics.verdicts import Conclusion, patients_in, patients_of_pair, too_few, verdict
from analysis.translation import t, tn


def accuracy_findings(results: Results) -> list[Finding]:
    """Say the range of accuracies, by kind of rater and condition."""
    found = [
        sentence for condition in _shown(results) for sentence in _accuracy(results, condition)
    ]
    return [Finding(theme=Theme.ACCURACY, text=sentences(found))] if found else []


def _shown(results: Results) -> list[str]:
    """Return the readers' first conditions, and that of models which have none of theirs."""
    return conditions_in(results, "accuracy")[: MOST_CONDITIONS + 1]


def _accuracy(results: Results, condition: str) -> list[str]:
    accuracy = results.tables["accuracy"]
    overall = (accuracy["by"] == "overall") & (accuracy["group"] == "micro")
    here = overall & (accuracy["condition"] == condition)
    rows = accuracy.loc[here & accuracy["accuracy"].notna()]
    found = []
    for kind in RaterKind:
        part = rows.loc[rows["rater_kind"] == kind].sort_values(
            ["accuracy", "rater_id"], ascending=[False, True]
        )
        if not len(part):
            continue
        best, worst = ({str(k): v for k, v in part.iloc[at].items()} for at in (0, -1))
        told = {
            "n": str(len(part)),
            "where": under(results, condition),
            "best": _one(results, best),
            "worst": _one(results, worst),
        }
        is_reader = kind is RaterKind.READER
        if len(part) == 1:
            found.append(
                t("The one reader{where}: {best}.", **told)
                if is_reader
                else t("The one model{where}: {best}.", **told)
            )
        elif best["n_correct"] == worst["n_correct"]:
            found.append(
                t("The {n} readers{where} all have the same accuracy: {best}.", **told)
                if is_reader
                else t("The {n} models{where} all have the same accuracy: {best}.", **told)
            )
        else:
            found.append(
                t("The {n} readers{where}: highest {best}, lowest {worst}.", **told)
                if is_reader
                else t("The {n} models{where}: highest {best}, lowest {worst}.", **told)
            )
    return found


def _one(results: Results, row: Row) -> str:
    low, high = number(row, "cluster_ci_low"), number(row, "cluster_ci_high")
    if not low < high:
        low, high = number(row, "ci_low"), number(row, "ci_high")
    return t(
        "{name}, {percent} % [{interval}; {n} of {total}]",
        name=named(results, str(row["rater_id"])),
        percent=percent(row["accuracy"]),
        interval=span(percent(low), percent(high)) if low < high else t("no informative interval"),
        n=int(row["n_correct"]),
        total=int(row["n"]),
    )


def bank_findings(results: Results) -> list[Finding]:
    """Say by how much each rater's accuracy differs between the banks of the study."""
    rows = [
        row
        for row in rows_of(results, "banks", by="overall")
        if row["condition"] in _shown(results) and not math.isnan(number(row, "difference"))
    ]
    if not rows:
        return []
    tasks = len({row["group"] for row in rows_of(results, "banks", by="task")})
    told = [_between_banks(results, row) for row in rows[:MOST_RATERS]]
    left = len(rows) - len(told)
    if left:
        told.append(t("{n} more in {file}", n=str(left), file="tables/banks.csv"))
    first = t(
        "Accuracy on one bank minus accuracy on another, in percentage points"
        " [{percent} % interval]: {differences}.",
        percent=confidence_percent(results),
        differences=clauses(told),
    )
    second = (
        t(
            "The cases of two banks are different ones; {file} has all differences, and for each"
            " task.",
            file="tables/banks.csv",
        )
        if tasks > 1
        else t(
            "The cases of two banks are different ones; {file} has all differences.",
            file="tables/banks.csv",
        )
    )
    return [Finding(theme=Theme.ACCURACY, text=sentences([first, second]))]


def _between_banks(results: Results, row: Row) -> str:
    low = number(row, "ci_low")
    scale = points(results)
    return t(
        "{name}{where}, {bank} minus {other_bank} {difference} [{interval}; {n} and {n_other}"
        " cases]",
        name=named(results, str(row["rater_id"])),
        where=under(results, str(row["condition"])),
        bank=row["bank"],
        other_bank=row["other_bank"],
        difference=rounded(100 * number(row, "difference")),
        interval=t("no interval") if math.isnan(low) else scale.limits(row),
        n=int(row["n"]),
        n_other=int(row["n_other"]),
    )


MOST_RATERS = 12
ENOUGH = 0.8


def single_reader_findings(results: Results) -> list[Finding]:
    """Count the pairs of reader and model by what they show; name the two that were best."""
    found = []
    for condition in conditions_in(results, "comparisons")[:MOST_CONDITIONS]:
        rows = [
            row
            for row in rows_of(
                results, "comparisons", condition=condition, pair_kind=PairKind.MIXED.value
            )
            if not math.isnan(number(row, "difference"))
        ]
        if rows:
            found.append(Finding(theme=Theme.AGAINST, text=_condition(results, rows, condition)))
    return found


def _condition(results: Results, rows: list[Row], condition: str) -> str:
    verdicts = [shown(results, row) for row in rows]
    more, less, none, few = (
        verdicts.count(one)
        for one in (
            Conclusion.MORE,
            Conclusion.FEWER,
            Conclusion.NOT_SHOWN,
            Conclusion.TOO_FEW,
        )
    )
    counts = [
        *([t("the model was more accurate in {n}", n=more)] if more else []),
        *([t("the model was less accurate in {n}", n=less)] if less else []),
        *([t("no difference shown in {n}", n=none)] if none else []),
        *([t("no conclusion in {n}", n=few)] if few else []),
    ]
    opening = tn(
        "Against single readers{where}, adjusted for {n} comparison (Holm): {counts}.",
        "Against single readers{where}, adjusted for {n} comparisons (Holm): {counts}.",
        len(rows),
        where=under(results, condition),
        counts=in_a_row(counts),
    )
    # Accuracies over a few of the items are no match for those over all.
    most = max(number(row, "n") for row in rows)
    best = max(
        (row for row in rows if number(row, "n") >= ENOUGH * most),
        key=lambda row: (number(row, "accuracy_a"), number(row, "accuracy_b")),
    )
    return sentences([opening, _best(results, best, points(results), picked=len(rows) > 1)])


def shown(results: Results, row: Row) -> Conclusion:
    """Return what a pair shows of the model against the reader.

    A direction needs an interval that excludes 0 (over patients, where there is one), an adjusted p
    below alpha, and enough patients.
    """
    if too_few(results, patients_of_pair(results, row)):
        return Conclusion.TOO_FEW
    low, high = limits(row)
    direction = verdict(-high, -low)
    significant = number(row, "p_adjusted") < results.options.alpha
    directions = (Conclusion.MORE, Conclusion.FEWER)
    return direction if direction in directions and significant else Conclusion.NOT_SHOWN


def limits(row: Row) -> tuple[float, float]:
    """Return the limits over patients where there are some, else those of the score interval."""
    cluster = number(row, "cluster_ci_low"), number(row, "cluster_ci_high")
    if not any(map(math.isnan, cluster)):
        return cluster
    return number(row, "ci_low"), number(row, "ci_high")


def _best(results: Results, row: Row, scale: Scale, *, picked: bool) -> str:
    low, high = limits(row)
    turned = {**row, "ci_low": -high, "ci_high": -low}
    difference = -number(row, "difference")
    told = {
        "model": named(results, str(row["rater_b"])),
        "value": scale.value(number(row, "accuracy_b")),
        "reader": named(results, str(row["rater_a"])),
        "reader_value": scale.value(number(row, "accuracy_a")),
    }
    opening = (
        t(
            "The two with the most correct answers: {model} ({value}) against {reader}"
            " ({reader_value})",
            **told,
        )
        if picked
        else t("{model} ({value}) against {reader} ({reader_value})", **told)
    )
    said = shown(results, row)
    told = {
        "opening": opening,
        "size": scale.size(difference),
        "difference": scale.signed(difference),
        "interval": scale.interval(turned),
    }
    if verdict(low, high) is Conclusion.UNDEFINED:
        return t("{opening}: {difference}, no informative interval.", **told)
    if said is Conclusion.TOO_FEW:
        why = too_few(results, patients_of_pair(results, row))
        return t("{opening}: {difference}, {interval}; {why}.", **told, why=why)
    if said is Conclusion.NOT_SHOWN and verdict(-high, -low) is not said:
        return t(
            "{opening}: no difference shown after adjustment ({difference}, unadjusted"
            " {interval}).",
            **told,
        )
    if said is Conclusion.NOT_SHOWN:
        return t("{opening}: no difference shown ({difference}, {interval}).", **told)
    if picked and said is Conclusion.MORE:
        return t(
            "{opening}: {size} higher ({interval}, not adjusted for picking these two).", **told
        )
    if picked:
        return t(
            "{opening}: {size} lower ({interval}, not adjusted for picking these two).", **told
        )
    if said is Conclusion.MORE:
        return t("{opening}: {size} higher ({interval}).", **told)
    return t("{opening}: {size} lower ({interval}).", **told)


def ranking_findings(results: Results) -> list[Finding]:
    """Say who is first, over which ranks the interval reaches, and what changes with macro."""
    texts = []
    for condition in conditions_in(results, "leaderboard")[:MOST_CONDITIONS]:
        texts += _ranking_in(results, condition)
    if not texts:
        texts = _order(results)
    return [Finding(theme=Theme.RANKING, text=text) for text in texts]


def _ranking_in(results: Results, condition: str) -> list[str]:
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
    few = too_few(results, patients_in(results, number(row, "n")))
    if few:
        return t("{name}; {why}, so first place is not certain", name=names, why=few)
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
            return verdict(low, high) is (Conclusion.MORE if a == leader else Conclusion.FEWER)
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
