"""Each model against the panel of readers: these readers, and readers like these."""

from __future__ import annotations

import math

from analysis.report.findings.endpoint import scale_of
from analysis.report.findings.finding import MOST_CONDITIONS, Finding, Scale, Theme, named
from analysis.report.findings.sensitivity import under_other_choices
from analysis.report.wording.numbers import count, listed
from analysis.report.wording.rows import (
    Row,
    conditions_in,
    has_several,
    number,
    reason,
    rows_of,
    under,
)
from analysis.report.wording.verdicts import (
    Verdict,
    decisions,
    has_margin,
    non_inferior,
    origin_of_margin,
    verdict,
)
from analysis.results import Results

MOST_MODELS = 3
METRICS = ("accuracy", "auc")
THESE, LIKE_THESE = "these readers", "readers like these"
BACKWARDS = "is below 0.5"
METRIC_WORDS = {"accuracy": "Accuracy", "auc": "Area under the ROC curve"}
ARTICLES = {"accuracy": "an accuracy", "auc": "an area under the ROC curve"}
# Which way a difference goes.
SAID = {
    Verdict.MORE: "higher in {}",
    Verdict.FEWER: "lower in {}",
    Verdict.NOT_SHOWN: "no difference shown in {}",
    Verdict.UNDEFINED: "undefined in {}",
}


def panel_findings(results: Results) -> list[Finding]:
    """Say for each of the first models how it stands to the readers; count the others."""
    found: list[Finding] = []
    for condition in conditions_in(results, "reader_panel")[:MOST_CONDITIONS]:
        for metric in METRICS:
            found += _panel(results, condition, metric)
    if found and decisions(results):
        said = (
            "Except for the primary endpoint, what follows is exploratory: intervals, no verdicts."
        )
        found.insert(0, Finding(theme=Theme.AGAINST, text=said))
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
    most = MOST_MODELS if metric == "accuracy" and not has_several(results) else 1
    if all(_verdict(row) is Verdict.UNDEFINED for claims in ordered for row in claims.values()):
        most = 1
    # One more is no longer than saying that there is one more.
    most += most > 1 and len(ordered) == most + 1
    if rows and not ordered:
        return [Finding(theme=Theme.AGAINST, text=_nothing(results, rows[0], metric, condition))]
    texts = [_model(results, claims, metric, condition) for claims in ordered[:most]]
    if len(ordered) > most:
        texts.append(_others(ordered[most:], metric))
    texts += _remarks(results, rows, metric, condition)
    return [Finding(theme=Theme.AGAINST, text=text) for text in texts]


def _nothing(results: Results, row: Row, metric: str, condition: str) -> str:
    """Say why no model is compared with the readers as a panel."""
    by = "" if metric == "accuracy" else " by the area under the ROC curve"
    return (
        f"Models are not compared with the mean of the readers{by}{under(results, condition)}:"
        f" {reason(row)}."
    )


def _remarks(results: Results, rows: list[Row], metric: str, condition: str) -> list[str]:
    """Say what holds for all models: on which items, and what looks the wrong way round."""
    notes = [note for row in rows for note in str(row["note"]).split("; ")]
    told = [note for note in dict.fromkeys(notes) if note.startswith("over the ")]
    texts = [f"{METRIC_WORDS[metric]}{under(results, condition)}: {note}." for note in told]
    if any(note.endswith(BACKWARDS) for note in notes):
        texts.append(
            f"Every reader's area under the ROC curve{under(results, condition)} is below 0.5, that"
            " of guessing: check whether the confidence ratings or the reference standard are"
            " reversed."
        )
    return texts


def _value(claims: dict[str, Row]) -> float:
    return number(next(iter(claims.values())), "model_value")


def _model(results: Results, claims: dict[str, Row], metric: str, condition: str) -> str:
    scale = scale_of(results, metric)
    any_row = next(iter(claims.values()))
    fixed, random = claims.get(THESE), claims.get(LIKE_THESE)
    name = named(results, str(any_row["model_id"]))
    where = under(results, condition)
    text = _fixed(results, name, fixed or any_row, metric, where, fixed is not None)
    if random is not None:
        also = under_other_choices(results, random, _said)
        text += " " + random_sentence(random, fixed, scale, _margin(results, any_row), also)
    return text + _beyond_margin(results, claims, scale)


def _fixed(results: Results, name: str, row: Row, metric: str, where: str, given: bool) -> str:
    scale, readers = scale_of(results, metric), mean_of_readers(row)
    model, mean = (scale.value(number(row, c)) for c in ("model_value", "reader_mean"))
    has = f"{name} had {ARTICLES[metric]} of {model}"
    said = _verdict(row) if given else Verdict.UNDEFINED
    interval = scale.interval(row, _margin(results, row)).replace("CI", "CI of the difference")
    also = under_other_choices(results, row, _said) if given else ""
    if is_uninformative(row):
        return (
            f"{has}, {readers}{where} {mean}; the interval is uninformative: it extends to the"
            " largest possible difference."
        )
    if said in (Verdict.MORE, Verdict.FEWER):
        than = f"{said.value} than {readers}{where} ({mean}; {interval})"
        return f"{has}, {scale.size(number(row, 'difference'))} {than}{also}."
    if said is Verdict.NOT_SHOWN:
        signed = scale.signed(number(row, "difference"))
        return f"{has}, {readers}{where} {mean}: no difference shown ({signed}, {interval}){also}."
    why = f": {reason(row)}" if given and row.get("undefined_because") else ""
    return f"{has}, {readers}{where} {mean}; no informative interval{why}."


def random_sentence(
    row: Row, fixed: Row | None, scale: Scale, margin: float | None = None, also: str = ""
) -> str:
    """Say what holds when other readers take these readers' place, and on how many it rests."""
    said = _verdict(row)
    if said is Verdict.UNDEFINED and fixed is not None and reason(fixed) == reason(row):
        return "The same holds for readers like these."
    if said is Verdict.UNDEFINED:
        return f"For readers like these no conclusion is possible: {reason(row)}."
    if is_uninformative(row):
        return (
            f"For readers like these the interval from {_count(row)} is uninformative: it"
            " extends to the largest possible difference."
        )
    limits, width = scale.limits(row, margin), scale.width(row, margin)
    if said is Verdict.NOT_SHOWN:
        return (
            f"For readers like these the interval extends from {limits}{scale.unit} ({width}), so"
            f" with {_count(row)} a difference in either direction cannot be excluded."
        )
    if fixed is not None and _verdict(fixed) is not said:
        return (
            f"For readers like these the interval is {limits}{scale.unit}, narrower than for these"
            " readers, because these readers differ less than chance alone would make them; no"
            " difference is claimed."
        )
    return (
        f"For readers like these it is {said.value} as well ({scale.interval(row, margin)};"
        f" {width}, from {_count(row)}){also}."
    )


def _beyond_margin(results: Results, claims: dict[str, Row], scale: Scale) -> str:
    """Say where the lower limits lie to a margin that was chosen at analysis: no verdict."""
    origin = origin_of_margin(results)
    margin = _margin(results, next(iter(claims.values())))
    if margin is None or not origin:
        return ""
    defined = [
        claim
        for claim in (THESE, LIKE_THESE)
        if claim in claims and _verdict(claims[claim]) is not Verdict.UNDEFINED
    ]
    cleared = [
        claim
        for claim in defined
        if non_inferior(number(claims[claim], "ci_low"), number(claims[claim], "ci_high"), margin)
    ]
    missed = [claim for claim in defined if claim not in cleared]
    parts = [
        f"{words} for {listed(part)}"
        for words, part in (("cleared", cleared), ("not cleared", missed))
        if part
    ]
    return f" Margin of {scale.size(margin)} ({origin}): {', '.join(parts)}." if parts else ""


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


def _said(row: Row) -> str:
    return _verdict(row).value


def _verdict(row: Row) -> Verdict:
    return verdict(number(row, "ci_low"), number(row, "ci_high"))


def is_uninformative(row: Row) -> bool:
    """Tell whether an interval that holds 0 reaches as far as any difference can."""
    reaches = number(row, "ci_low") <= -1 or number(row, "ci_high") >= 1
    return reaches and _verdict(row) is Verdict.NOT_SHOWN


def _margin(results: Results, row: Row) -> float | None:
    margin = number(row, "margin")
    return None if math.isnan(margin) or not has_margin(results, str(row["metric"])) else margin


def _count(row: Row) -> str:
    return count(int(number(row, "n_readers")), "reader")


def mean_of_readers(row: Row) -> str:
    """Name the panel; one reader is no mean."""
    n = int(number(row, "n_readers"))
    return "the one reader" if n == 1 else f"the mean of these {n} readers"
