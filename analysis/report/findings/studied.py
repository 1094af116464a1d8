"""Who answered what, and what is missing."""

from __future__ import annotations

from analysis.bundle.words import RaterKind, Status
from analysis.figures.names import shorten
from analysis.protocol import declared, n_amendments
from analysis.report.conditions import LONGEST, all_conditions
from analysis.report.findings.finding import KIND_WORDS, Finding, Theme
from analysis.report.numbers import count
from analysis.results import Results


def studied_findings(results: Results) -> list[Finding]:
    """Say who answered how many items of how many patients, and what has no answer."""
    sentences = [
        _design(results),
        *_condition(results),
        *_planned(results),
        *_missing(results),
        *_silent(results),
        *_withdrawn(results),
    ]
    return [Finding(theme=Theme.STUDIED, text=" ".join(sentences))]


def _design(results: Results) -> str:
    accuracy, items = results.tables["accuracy"], results.bundle.items
    counts = accuracy.groupby("rater_kind")["rater_id"].nunique()
    who = " and ".join(
        count(int(counts[kind]), KIND_WORDS[kind]) for kind in RaterKind if kind in counts
    )
    judged = int((items["truth"] != "").sum())
    if judged == 0:
        reference = "no item has a reference standard, so that accuracy is undefined and no item"
        reference += " counts as assigned"
    elif judged == len(items):
        reference = ("it has" if judged == 1 else "each has") + " a reference standard"
    else:
        reference = f"{count(judged, 'of them has', 'of them have')} a reference standard"
    clusters = ""
    if results.clustered:
        clusters = f" The items belong to {count(results.n_clusters, 'patient')}"
        clusters += " (examinations where no patient is given)."
    return f"{who} answered {count(len(items), 'item')}; {reference}.{clusters}"


def _condition(results: Results) -> list[str]:
    """Name the one condition here, for it is named nowhere else."""
    conditions = all_conditions(results)
    if len(conditions) != 1 or not conditions[0]:
        return []
    return [f"There is one condition: \u2068{shorten(conditions[0], LONGEST)}\u2069."]


def _planned(results: Results) -> list[str]:
    """Say what was declared before reading, and how often the protocol was amended after."""
    protocol = results.bundle.protocol
    found, n = declared(protocol), n_amendments(protocol)
    planned = [f"Declared in the protocol: \u2068{shorten(found, 200)}\u2069."] if found else []
    if n:
        planned.append(f"The protocol was amended {count(n, 'time')} after the study opened.")
    return planned


def _missing(results: Results) -> list[str]:
    table = results.tables["missing"]
    lacking = table["n_assigned"] - table["n_answered"]
    if not table["n_assigned"].sum():
        return []
    if not lacking.sum():
        return ["Every assigned item was answered by every rater."]
    kinds = [
        f"{int(table[f'n_{status}'].sum()):,} {status.value.replace('_', ' ')}"
        for status in Status
        if status is not Status.ANSWERED and table[f"n_{status}"].sum()
    ]
    n, total = int(lacking.sum()), int(table["n_assigned"].sum())
    verb, wrong = ("has", "it counts") if n == 1 else ("have", "they count")
    what = "assigned reading" if total == 1 else "assigned readings"
    return [f"{n:,} of {total:,} {what} {verb} no answer ({', '.join(kinds)}); {wrong} as wrong."]


def _silent(results: Results) -> list[str]:
    """Raters without any reading: no table can show them, so the page says so."""
    read = set(results.bundle.readings["rater_id"])
    labels = results.bundle.labels
    silent = [f"\u2068{labels[rater]}\u2069" for rater in sorted(labels) if rater not in read]
    return [f"Listed but without any reading: {', '.join(silent[:20])}."] if silent else []


def _withdrawn(results: Results) -> list[str]:
    """Name the models that the study had: a reader of the report must know what is not in it."""
    gone = results.bundle.about.get("withdrawn_models")
    told = [one for one in gone if isinstance(one, dict)] if isinstance(gone, list) else []
    if not told:
        return []
    named = [
        f"\u2068{shorten(str(one.get('model_id', '')), LONGEST)}\u2069"
        f"{' after closing' if one.get('after_closing') else ''}"
        f" (\u2068{shorten(str(one.get('reason', '')), 200)}\u2069)"
        for one in told
    ]
    verb = "was withdrawn and is" if len(named) == 1 else "were withdrawn and are"
    return [f"{count(len(named), 'model')} {verb} in no table: {', '.join(named)}."]
