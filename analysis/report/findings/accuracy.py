"""The highest and the lowest accuracy of readers and of models."""

from __future__ import annotations

import math

from analysis.bundle.model import RaterKind
from analysis.report.findings.finding import (
    KIND_WORDS,
    MOST_CONDITIONS,
    Finding,
    Scale,
    Theme,
    named,
    points,
)
from analysis.report.wording.numbers import count, percent, rounded
from analysis.report.wording.rows import Row, conditions_in, number, rows_of, under
from analysis.report.wording.verdicts import Verdict, verdict
from analysis.results import Results
from analysis.statistics.agreement.pairs.pairing import PairKind


def accuracy_findings(results: Results) -> list[Finding]:
    """Say the range of accuracies, by kind of rater and condition."""
    sentences = [
        sentence for condition in _shown(results) for sentence in _accuracy(results, condition)
    ]
    return [Finding(theme=Theme.ACCURACY, text=" ".join(sentences))] if sentences else []


def _shown(results: Results) -> list[str]:
    """Return the readers' first conditions, and that of models which have none of theirs."""
    return conditions_in(results, "accuracy")[: MOST_CONDITIONS + 1]


def _accuracy(results: Results, condition: str) -> list[str]:
    accuracy = results.tables["accuracy"]
    overall = (accuracy["by"] == "overall") & (accuracy["group"] == "micro")
    here = overall & (accuracy["condition"] == condition)
    rows = accuracy.loc[here & accuracy["accuracy"].notna()]
    sentences = []
    for kind in RaterKind:
        part = rows.loc[rows["rater_kind"] == kind].sort_values(
            ["accuracy", "rater_id"], ascending=[False, True]
        )
        if not len(part):
            continue
        best, worst = ({str(k): v for k, v in part.iloc[at].items()} for at in (0, -1))
        where = under(results, condition)
        if len(part) == 1:
            sentences.append(f"The one {KIND_WORDS[kind]}{where}: {_one(results, best)}.")
        elif best["n_correct"] == worst["n_correct"]:
            sentences.append(
                f"The {len(part)} {KIND_WORDS[kind]}s{where} all have the same accuracy:"
                f" {_one(results, best)}."
            )
        else:
            sentences.append(
                f"The {len(part)} {KIND_WORDS[kind]}s{where}: highest"
                f" {_one(results, best)}, lowest {_one(results, worst)}."
            )
    return sentences


def _one(results: Results, row: Row) -> str:
    low, high = number(row, "cluster_ci_low"), number(row, "cluster_ci_high")
    if math.isnan(low) or math.isnan(high):
        low, high = number(row, "ci_low"), number(row, "ci_high")
    interval = f"{percent(low)} to {percent(high)}" if low < high else "no informative interval"
    name = named(results, str(row["rater_id"]))
    of = f"{row['n_correct']:,} of {row['n']:,}"
    return f"{name}, {percent(row['accuracy'])} % [{interval}; {of}]"


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
    more = f"; {left} more in tables/banks.csv" if left else ""
    each = ", and for each task" if tasks > 1 else ""
    text = (
        "Accuracy on one bank minus accuracy on another, in percentage points"
        f" [{results.options.confidence_percent} % interval]: {'; '.join(told)}{more}. The cases of"
        f" two banks are different ones; tables/banks.csv has all differences{each}."
    )
    return [Finding(theme=Theme.ACCURACY, text=text)]


def _between_banks(results: Results, row: Row) -> str:
    low = number(row, "ci_low")
    scale = points(results)
    interval = "no interval" if math.isnan(low) else scale.limits(row)
    return (
        f"{named(results, str(row['rater_id']))}{under(results, str(row['condition']))},"
        f" {row['bank']} minus {row['other_bank']} "
        f"{rounded(100 * number(row, 'difference'))}"
        f" [{interval}; {row['n']:,} and {row['n_other']:,} cases]"
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
    alpha = results.options.alpha
    verdicts = [shown(row, alpha) for row in rows]
    words = {
        Verdict.MORE: "the model was more accurate in {}",
        Verdict.FEWER: "the model was less accurate in {}",
        Verdict.NOT_SHOWN: "no difference shown in {}",
    }
    counts = [words[one].format(f"{verdicts.count(one):,}") for one in words if verdicts.count(one)]
    opening = f"Against single readers{under(results, condition)}, adjusted for"
    opening += f" {count(len(rows), 'comparison')} (Holm): {', '.join(counts)}."
    # Accuracies over a few of the items are no match for those over all.
    most = max(number(row, "n") for row in rows)
    best = max(
        (row for row in rows if number(row, "n") >= ENOUGH * most),
        key=lambda row: (number(row, "accuracy_a"), number(row, "accuracy_b")),
    )
    return f"{opening} {_best(results, best, points(results), picked=len(rows) > 1)}"


def shown(row: Row, alpha: float) -> Verdict:
    """Tell what a pair shows of the model against the reader.

    Both are asked for: an interval that leaves 0 out (over patients, where there is one) and an
    adjusted p below alpha.
    """
    low, high = limits(row)
    said = verdict(-high, -low)
    p = number(row, "p_adjusted")
    return said if said in (Verdict.MORE, Verdict.FEWER) and p < alpha else Verdict.NOT_SHOWN


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
    model, reader = (named(results, str(row[c])) for c in ("rater_b", "rater_a"))
    opening = f"{'The two with the most correct answers: ' if picked else ''}{model}"
    opening += f" ({scale.value(number(row, 'accuracy_b'))}) against {reader}"
    opening += f" ({scale.value(number(row, 'accuracy_a'))})"
    said = shown(row, results.options.alpha)
    if verdict(low, high) is Verdict.UNDEFINED:
        return f"{opening}: {scale.signed(difference)}, no informative interval."
    if said is Verdict.NOT_SHOWN and verdict(-high, -low) is not said:
        return (
            f"{opening}: no difference shown after adjustment ({scale.signed(difference)},"
            f" unadjusted {scale.interval(turned)})."
        )
    if said is Verdict.NOT_SHOWN:
        return (
            f"{opening}: no difference shown ({scale.signed(difference)},"
            f" {scale.interval(turned)})."
        )
    note = ", not adjusted for picking these two" if picked else ""
    return f"{opening}: {scale.size(difference)} {said.value} ({scale.interval(turned)}{note})."
