"""Findings on accuracy, on models compared with single readers, and on ranks."""

from __future__ import annotations

import math

from analysis.bundle.model import PairKind, RaterKind
from analysis.presentation.wording import (
    Row,
    cell_number,
    condition_phrase,
    conditions_in,
    format_number,
    format_percent,
    format_range,
    join_clauses,
    join_sentences,
    join_with_commas,
    join_words,
    rows_of,
)
from analysis.report.findings.finding import (
    MAX_CONDITIONS,
    Finding,
    Scale,
    Theme,
    confidence_percent,
    name_in_sentence,
    points_scale,
)
from analysis.results import Results
from analysis.statistics.verdicts import (
    Conclusion,
    no_verdict_reason,
    no_verdict_reason_of_fewest,
    patients_of_pair,
    verdict,
)
from analysis.translation import t, tn


def accuracy_findings(results: Results) -> list[Finding]:
    """Report the range of accuracy by kind of rater and condition."""
    texts = [
        sentence
        for condition in _conditions_shown(results)
        for sentence in _accuracy_sentences(results, condition)
    ]
    return [Finding(theme=Theme.ACCURACY, text=join_sentences(texts))] if texts else []


def _conditions_shown(results: Results) -> list[str]:
    """Return the first conditions of the readers, and one of models that readers do not have."""
    return conditions_in(results, "accuracy")[: MAX_CONDITIONS + 1]


def _accuracy_sentences(results: Results, condition: str) -> list[str]:
    accuracy = results.tables["accuracy"]
    overall = (accuracy["by"] == "overall") & (accuracy["group"] == "micro")
    chosen = overall & (accuracy["condition"] == condition)
    rows = accuracy.loc[chosen & accuracy["accuracy"].notna()]
    texts = []
    for kind in RaterKind:
        part = rows.loc[rows["rater_kind"] == kind].sort_values(
            ["accuracy", "rater_id"], ascending=[False, True]
        )
        if not len(part):
            continue
        best, worst = ({str(k): v for k, v in part.iloc[at].items()} for at in (0, -1))
        values = {
            "n": str(len(part)),
            "where": condition_phrase(results, condition),
            "best": _rater_accuracy(results, best),
            "worst": _rater_accuracy(results, worst),
        }
        is_reader = kind is RaterKind.READER
        if len(part) == 1:
            texts.append(
                t("The one reader{where}: {best}.", **values)
                if is_reader
                else t("The one model{where}: {best}.", **values)
            )
        elif best["n_correct"] == worst["n_correct"]:
            texts.append(
                t("The {n} readers{where} all have the same accuracy: {best}.", **values)
                if is_reader
                else t("The {n} models{where} all have the same accuracy: {best}.", **values)
            )
        else:
            texts.append(
                t("The {n} readers{where}: highest {best}, lowest {worst}.", **values)
                if is_reader
                else t("The {n} models{where}: highest {best}, lowest {worst}.", **values)
            )
    return texts


def _rater_accuracy(results: Results, row: Row) -> str:
    low, high = cell_number(row, "cluster_ci_low"), cell_number(row, "cluster_ci_high")
    if not low < high:
        low, high = cell_number(row, "ci_low"), cell_number(row, "ci_high")
    return t(
        "{name}, {percent} % [{interval}; {n} of {total}]",
        name=name_in_sentence(results, str(row["rater_id"])),
        percent=format_percent(row["accuracy"]),
        interval=format_range(format_percent(low), format_percent(high))
        if low < high
        else t("no informative interval"),
        n=int(row["n_correct"]),
        total=int(row["n"]),
    )


def bank_findings(results: Results) -> list[Finding]:
    """Report how each rater's accuracy differs between the banks of the study."""
    rows = [
        row
        for row in rows_of(results, "banks", by="overall")
        if row["condition"] in _conditions_shown(results)
        and not math.isnan(cell_number(row, "difference"))
    ]
    if not rows:
        return []
    tasks = len({row["group"] for row in rows_of(results, "banks", by="task")})
    parts = [_bank_difference(results, row) for row in rows[:MAX_RATERS]]
    left = len(rows) - len(parts)
    if left:
        parts.append(t("{n} more in {file}", n=str(left), file="tables/banks.csv"))
    first = t(
        "Accuracy on one bank minus accuracy on another, in percentage points"
        " [{percent} % interval]: {differences}.",
        percent=confidence_percent(results),
        differences=join_clauses(parts),
    )
    second = (
        t(
            "Two banks have different cases; {file} lists all differences, and for each task.",
            file="tables/banks.csv",
        )
        if tasks > 1
        else t(
            "Two banks have different cases; {file} lists all differences.",
            file="tables/banks.csv",
        )
    )
    return [Finding(theme=Theme.ACCURACY, text=join_sentences([first, second]))]


def _bank_difference(results: Results, row: Row) -> str:
    low = cell_number(row, "ci_low")
    scale = points_scale(results)
    return t(
        "{name}{where}, {bank} minus {other_bank} {difference} [{interval}; {n} and {n_other}"
        " cases]",
        name=name_in_sentence(results, str(row["rater_id"])),
        where=condition_phrase(results, str(row["condition"])),
        bank=row["bank"],
        other_bank=row["other_bank"],
        difference=format_number(100 * cell_number(row, "difference")),
        interval=t("no interval") if math.isnan(low) else scale.limits(row),
        n=int(row["n"]),
        n_other=int(row["n_other"]),
    )


MAX_RATERS = 12
SUFFICIENT_SHARE = 0.8


def single_reader_findings(results: Results) -> list[Finding]:
    """Count the pairs of a reader and a model by conclusion, and name the most accurate pair."""
    findings = []
    for condition in conditions_in(results, "comparisons")[:MAX_CONDITIONS]:
        rows = [
            row
            for row in rows_of(
                results, "comparisons", condition=condition, pair_kind=PairKind.MIXED.value
            )
            if not math.isnan(cell_number(row, "difference"))
        ]
        if rows:
            findings.append(
                Finding(theme=Theme.AGAINST, text=_condition_text(results, rows, condition))
            )
    return findings


def _condition_text(results: Results, rows: list[Row], condition: str) -> str:
    verdicts = [pair_conclusion(results, row) for row in rows]
    more, less, none, few = (
        verdicts.count(kind)
        for kind in (
            Conclusion.HIGHER,
            Conclusion.LOWER,
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
        where=condition_phrase(results, condition),
        counts=join_with_commas(counts),
    )
    # Accuracies on only few of the items are not comparable with the others.
    n_most = max(cell_number(row, "n") for row in rows)
    best = max(
        (row for row in rows if cell_number(row, "n") >= SUFFICIENT_SHARE * n_most),
        key=lambda row: (cell_number(row, "accuracy_a"), cell_number(row, "accuracy_b")),
    )
    return join_sentences(
        [opening, _best_pair_sentence(results, best, points_scale(results), picked=len(rows) > 1)]
    )


def pair_conclusion(results: Results, row: Row) -> Conclusion:
    """Return the conclusion about the model and the reader of a pair.

    A direction requires an interval that excludes 0 (the interval over patients if there is one),
    an adjusted p below alpha, and enough patients.
    """
    if no_verdict_reason(results, patients_of_pair(results, row)):
        return Conclusion.TOO_FEW
    low, high = interval_limits(row)
    direction = verdict(-high, -low)
    significant = cell_number(row, "p_adjusted") < results.options.alpha
    directions = (Conclusion.HIGHER, Conclusion.LOWER)
    return direction if direction in directions and significant else Conclusion.NOT_SHOWN


def interval_limits(row: Row) -> tuple[float, float]:
    """Return the limits of the interval over patients if there is one, else the score interval."""
    cluster = cell_number(row, "cluster_ci_low"), cell_number(row, "cluster_ci_high")
    if not any(map(math.isnan, cluster)):
        return cluster
    return cell_number(row, "ci_low"), cell_number(row, "ci_high")


def _best_pair_sentence(results: Results, row: Row, scale: Scale, *, picked: bool) -> str:
    low, high = interval_limits(row)
    reversed_row = {**row, "ci_low": -high, "ci_high": -low}
    difference = -cell_number(row, "difference")
    values = {
        "model": name_in_sentence(results, str(row["rater_b"])),
        "value": scale.value(cell_number(row, "accuracy_b")),
        "reader": name_in_sentence(results, str(row["rater_a"])),
        "reader_value": scale.value(cell_number(row, "accuracy_a")),
    }
    opening = (
        t(
            "The two with the most correct answers: {model} ({value}) against {reader}"
            " ({reader_value})",
            **values,
        )
        if picked
        else t("{model} ({value}) against {reader} ({reader_value})", **values)
    )
    outcome = pair_conclusion(results, row)
    values = {
        "opening": opening,
        "size": scale.size(difference),
        "difference": scale.signed(difference),
        "interval": scale.interval(reversed_row),
    }
    if verdict(low, high) is Conclusion.UNDEFINED:
        return t("{opening}: {difference}, no informative interval.", **values)
    if outcome is Conclusion.TOO_FEW:
        reason = no_verdict_reason(results, patients_of_pair(results, row))
        return t("{opening}: {difference}, {interval}; {why}.", **values, why=reason)
    if outcome is Conclusion.NOT_SHOWN and verdict(-high, -low) is not outcome:
        return t(
            "{opening}: no difference shown after adjustment ({difference}, unadjusted"
            " {interval}).",
            **values,
        )
    if outcome is Conclusion.NOT_SHOWN:
        return t("{opening}: no difference shown ({difference}, {interval}).", **values)
    if picked and outcome is Conclusion.HIGHER:
        return t(
            "{opening}: {size} higher ({interval}, not adjusted for picking these two).", **values
        )
    if picked:
        return t(
            "{opening}: {size} lower ({interval}, not adjusted for picking these two).", **values
        )
    if outcome is Conclusion.HIGHER:
        return t("{opening}: {size} higher ({interval}).", **values)
    return t("{opening}: {size} lower ({interval}).", **values)


def ranking_findings(results: Results) -> list[Finding]:
    """Report the first rank with its interval, and how ranks change with macro accuracy."""
    texts = []
    for condition in conditions_in(results, "leaderboard")[:MAX_CONDITIONS]:
        texts += _ranking_sentences(results, condition)
    if not texts:
        texts = _order_sentence(results)
    return [Finding(theme=Theme.RANKING, text=text) for text in texts]


def _ranking_sentences(results: Results, condition: str) -> list[str]:
    micro, macro = (
        {
            str(row["rater_id"]): row
            for row in rows_of(
                results, "leaderboard", condition=condition, by="overall", group=group
            )
            if not math.isnan(cell_number(row, "rank"))
        }
        for group in ("micro", "macro")
    )
    if len(micro) < 2:
        return []
    first = _first_place(results, micro, condition)
    texts = [
        t(
            "Highest micro accuracy{where}: {first}.",
            where=condition_phrase(results, condition),
            first=first,
        )
    ]
    moved = [
        rater
        for rater in micro
        if rater in macro and cell_number(micro[rater], "rank") != cell_number(macro[rater], "rank")
    ]
    if moved:
        texts.append(
            tn(
                "Highest macro accuracy (every task weighted equally): {first}; {n} rater changes"
                " place between the two, so a ranking must state which it uses.",
                "Highest macro accuracy (every task weighted equally): {first}; {n} raters change"
                " place between the two, so a ranking must state which it uses.",
                len(moved),
                first=_first_place(results, macro),
            )
        )
    return [join_sentences(texts)]


def _first_place(results: Results, rows: dict[str, Row], condition: str | None = None) -> str:
    """Name the rater with the first rank, and report whether that rank is certain.

    The rank is certain if every paired interval against another rater excludes 0. Paired intervals
    exist only for micro accuracy; without a condition they are not checked.
    """
    best = min(cell_number(row, "rank") for row in rows.values())
    leaders = sorted(rater for rater, row in rows.items() if cell_number(row, "rank") == best)
    names = join_words([name_in_sentence(results, rater) for rater in leaders[:2]])
    row = rows[leaders[0]]
    low, high = cell_number(row, "rank_low"), cell_number(row, "rank_high")
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
    ranks = format_range(f"{low:.0f}", f"{high:.0f}") if high > low else f"{low:.0f}"
    values = {"name": names, "percent": confidence_percent(results), "ranks": ranks}
    if condition is None:
        return t("{name}; the {percent} % interval of its rank is {ranks}", **values)
    pairs = {
        other: _paired_row(results, leaders[0], other, condition)
        for other in rows
        if other != leaders[0]
    }
    few = no_verdict_reason_of_fewest(
        results, [patients_of_pair(results, pair) for pair in pairs.values() if pair]
    )
    if few:
        return t("{name}; {why}, so first place is not certain", name=names, why=few)
    uncertain = [other for other, pair in pairs.items() if not _is_ahead(leaders[0], pair)]
    if not uncertain and high == best:
        return t("{name}; every paired interval against another rater excludes 0", name=names)
    if not uncertain:
        return t(
            "{name}; the {percent} % interval of its rank is {ranks}, so first place is not"
            " certain",
            **values,
        )
    return t(
        "{name}; no difference is shown from {others}, so first place is not certain",
        name=names,
        others=join_words([name_in_sentence(results, other) for other in uncertain], max_words=3),
    )


def _paired_row(results: Results, leader: str, other: str, condition: str) -> Row:
    """Return the row of `comparisons` for two raters, in either order; empty if there is none."""
    for a, b in ((leader, other), (other, leader)):
        rows = rows_of(results, "comparisons", rater_a=a, rater_b=b)
        # Two models may have been run under another condition.
        own_rows = [row for row in rows if row["condition"] == condition] or rows
        if len(own_rows) == 1:
            return own_rows[0]
    return {}


def _is_ahead(leader: str, pair: Row) -> bool:
    """Return whether the paired interval of two raters is on the leader's side of 0."""
    if not pair:
        return False
    leads = Conclusion.HIGHER if pair["rater_a"] == leader else Conclusion.LOWER
    return verdict(*interval_limits(pair)) is leads


def _order_sentence(results: Results) -> list[str]:
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
