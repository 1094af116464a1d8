"""Each model against the panel of readers: these readers, and readers like these."""

from __future__ import annotations

import math

from analysis.report.claims import Verdict, non_inferior, verdict
from analysis.report.conditions import under
from analysis.report.findings.differences import Scale, area, points
from analysis.report.findings.finding import MOST_CONDITIONS, Finding, Theme, named
from analysis.report.numbers import count, listed
from analysis.report.rows import Row, conditions_in, number, reason, rows_of
from analysis.results import Results

MOST_MODELS = 3
SCALES = {"accuracy": points, "auc": area}
THESE, LIKE_THESE = "these readers", "readers like these"
# Which way a difference goes, in the metric's own words.
SAID = {
    Verdict.MORE: "more in {}",
    Verdict.FEWER: "fewer in {}",
    Verdict.NOT_SHOWN: "no difference shown in {}",
    Verdict.UNDEFINED: "undefined in {}",
}


def panel_findings(results: Results) -> list[Finding]:
    """Say for each of the first models how it stands to the readers; count the others."""
    found: list[Finding] = []
    for condition in conditions_in(results, "reader_panel")[:MOST_CONDITIONS]:
        for metric in SCALES:
            found += _panel(results, condition, metric)
    return found


def _panel(results: Results, condition: str, metric: str) -> list[Finding]:
    rows = rows_of(results, "reader_panel", condition=condition, metric=metric)
    models: dict[str, dict[str, Row]] = {}
    for row in rows:
        models.setdefault(str(row["model_id"]), {})[str(row["claim"])] = row
    ordered = sorted(
        (claims for claims in models.values() if not math.isnan(_value(claims))),
        key=lambda claims: (-_value(claims), str(next(iter(claims.values()))["model_id"])),
    )
    most = MOST_MODELS if metric == "accuracy" else 1
    if all(_verdict(row) is Verdict.UNDEFINED for claims in ordered for row in claims.values()):
        most = 1
    # One more is no longer than saying that there is one more.
    most += most > 1 and len(ordered) == most + 1
    texts = [_model(results, claims, metric, condition) for claims in ordered[:most]]
    if len(ordered) > most:
        texts.append(_others(ordered[most:], metric))
    return [Finding(theme=Theme.AGAINST, text=text) for text in texts]


def _value(claims: dict[str, Row]) -> float:
    return number(next(iter(claims.values())), "model_value")


def _model(results: Results, claims: dict[str, Row], metric: str, condition: str) -> str:
    scale = SCALES[metric](results)
    any_row = next(iter(claims.values()))
    fixed, random = claims.get(THESE), claims.get(LIKE_THESE)
    name = named(results, str(any_row["model_id"]))
    where = under(results, condition)
    text = _fixed(name, fixed or any_row, scale, metric, where, fixed is not None)
    if random is not None:
        text += " " + random_sentence(random, fixed, scale)
    return text + _margin(claims, scale)


def _fixed(name: str, row: Row, scale: Scale, metric: str, where: str, given: bool) -> str:
    readers = mean_of_readers(row)
    model, mean = (scale.value(number(row, c)) for c in ("model_value", "reader_mean"))
    has, on = f"{name} was right on {model} of the items", " on"
    if metric == "auc":
        has, on = f"{name} had an area under the ROC curve of {model}", ""
    said = _verdict(row) if given else Verdict.UNDEFINED
    interval = scale.interval(row, _given_margin(row)).replace("CI", "CI of the difference")
    if said in (Verdict.MORE, Verdict.FEWER):
        than = f"{said.value} than {readers}{where} ({mean}; {interval})"
        return f"{has}, {scale.size(number(row, 'difference'))} {than}."
    if said is Verdict.NOT_SHOWN:
        signed = scale.signed(number(row, "difference"))
        return f"{has}, {readers}{where}{on} {mean}: no difference shown ({signed}, {interval})."
    why = f": {reason(row)}" if given and row.get("undefined_because") else ""
    return f"{has}, {readers}{where}{on} {mean}; no informative interval{why}."


def random_sentence(row: Row, fixed: Row | None, scale: Scale) -> str:
    """Say what holds when other readers take these readers' place, and on how many it rests."""
    said = _verdict(row)
    if said is Verdict.UNDEFINED and fixed is not None and reason(fixed) == reason(row):
        return "Nor for readers like these."
    if said is Verdict.UNDEFINED:
        return f"For readers like these nothing can be said: {reason(row)}."
    margin = _given_margin(row)
    limits, width = scale.limits(row, margin), scale.width(row, margin)
    if said is Verdict.NOT_SHOWN:
        return (
            f"For readers like these the interval reaches from {limits}{scale.unit} ({width}), so"
            f" with {_count(row)} a difference in either direction cannot be excluded."
        )
    if fixed is not None and _verdict(fixed) is not said:
        return (
            f"For readers like these the interval is {limits}{scale.unit}, narrower than for these"
            " readers: they differ less than chance alone would make them, and no difference is"
            " claimed."
        )
    return (
        f"For readers like these it is {said.value} as well ({scale.interval(row, margin)};"
        f" {width}, from {_count(row)})."
    )


def _margin(claims: dict[str, Row], scale: Scale) -> str:
    margin = _given_margin(next(iter(claims.values())))
    defined = {
        claim: row for claim, row in claims.items() if _verdict(row) is not Verdict.UNDEFINED
    }
    if margin is None or not defined:
        return ""
    named_margin = f"the margin of {scale.size(margin)}"
    cleared = [
        claim
        for claim in (THESE, LIKE_THESE)
        if claim in defined
        and non_inferior(
            number(defined[claim], "ci_low"), number(defined[claim], "ci_high"), margin
        )
    ]
    if not cleared:
        return f" The lower limit does not clear {named_margin}."
    missed = [claim for claim in defined if claim not in cleared]
    but = f"; for {listed(missed)} the lower limit does not clear it" if missed else ""
    return f" Non-inferior to {listed(cleared)} at {named_margin}{but}."


def _others(models: list[dict[str, Row]], metric: str) -> str:
    by_claim: dict[str, list[str]] = {}
    for claim in (THESE, LIKE_THESE):
        verdicts = [_verdict(claims[claim]) for claims in models if claim in claims]
        counts = [
            SAID[one].format(f"{verdicts.count(one):,}") for one in Verdict if one in verdicts
        ]
        if counts:
            by_claim.setdefault(", ".join(counts), []).append(f"against {claim}")
    parts = [f"{' and '.join(claims)}: {counts}" for counts, claims in by_claim.items()]
    what = "" if metric == "accuracy" else " by area under the ROC curve"
    return f"The other {count(len(models), 'model')}{what}, {'; '.join(parts)}."


def _verdict(row: Row) -> Verdict:
    return verdict(number(row, "ci_low"), number(row, "ci_high"))


def _given_margin(row: Row) -> float | None:
    margin = number(row, "margin")
    return None if math.isnan(margin) else margin


def _count(row: Row) -> str:
    return count(int(number(row, "n_readers")), "reader")


def mean_of_readers(row: Row) -> str:
    """Name the panel; one reader is no mean."""
    n = int(number(row, "n_readers"))
    return "the one reader" if n == 1 else f"the mean of these {n} readers"
