"""Who answered what, and what is missing."""

from __future__ import annotations

from analysis.bundle.model import RaterKind, Status
from analysis.bundle.protocol import n_amendments
from analysis.figures.drawing.names import shorten
from analysis.readings.confidence import WORDS, confidence_of
from analysis.report.findings.finding import (
    KIND_WORDS,
    MOST_CONDITIONS,
    Finding,
    Theme,
    named,
)
from analysis.report.wording.numbers import count, listed, percent
from analysis.report.wording.rows import LONGEST, Row, all_conditions, number, rows_of, under
from analysis.results import Results

# Who lacks a larger share of the items is named first.
MUCH = 0.05
# Intervals over fewer patients hold the truth less often than they say.
FEW_PATIENTS = 30
MOST_NAMED = 20


def unread_findings(results: Results) -> list[Finding]:
    """Name, before anything else, the raters whose numbers do not stand for all items."""
    lacking = [
        row
        for row in rows_of(results, "missing")
        if number(row, "n_absent") > MUCH * number(row, "n_assigned")
    ]
    kinds = _kinds(results)
    texts = []
    for kind, verb, then in (
        (RaterKind.READER, "was not given", "Items that a reader was not given do not count"),
        (
            RaterKind.MODEL,
            "has no prediction for",
            "Items that a model did not answer count as incorrect",
        ),
    ):
        rows = [row for row in lacking if kinds[str(row["rater_id"])] == kind and _has_read(row)]
        rows.sort(key=lambda row: -number(row, "n_absent") / number(row, "n_assigned"))
        parts = [_lacks(results, row, verb) for row in rows]
        if parts:
            texts.append(f"{listed(parts, most=MOST_NAMED)}. {then}.")
    return [Finding(theme=Theme.UNREAD, text=text) for text in texts]


def _lacks(results: Results, row: Row, verb: str) -> str:
    n, of = (int(number(row, column)) for column in ("n_absent", "n_assigned"))
    name = named(results, str(row["rater_id"])) + under(results, str(row["condition"]))
    return f"{name} {verb} {n:,} of {count(of, 'case')} ({percent(n / of)} %)"


def _has_read(row: Row) -> bool:
    """Tell whether the rater has any reading; who has none is listed apart."""
    return number(row, "n_absent") < number(row, "n_assigned")


def _kinds(results: Results) -> dict[str, str]:
    raters = results.bundle.raters
    return dict(zip(raters["rater_id"], raters["rater_kind"], strict=True))


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
        reference = "no case has a reference standard, so accuracy is undefined and no case"
        reference += " counts as assigned"
    elif judged == len(items):
        reference = ("it has" if judged == 1 else "each has") + " a reference standard"
    else:
        reference = f"{count(judged, 'of them has', 'of them have')} a reference standard"
    clusters = ""
    if results.clustered:
        clusters = f" The cases belong to {count(results.n_clusters, 'patient')}"
        clusters += " (examinations where no patient is given)."
    if results.n_clusters < FEW_PATIENTS:
        what = "patients" if results.clustered else "cases"
        clusters += f" With fewer than {FEW_PATIENTS} {what} intervals are only approximate."
    return f"{who} answered {count(len(items), 'case')}; {reference}.{clusters}"


def _condition(results: Results) -> list[str]:
    """Name the one condition here, for it is named nowhere else; say where some are left out."""
    conditions = all_conditions(results)
    if len(conditions) > MOST_CONDITIONS:
        return [
            f"There are {count(len(conditions), 'condition')}; this page covers"
            f" {MOST_CONDITIONS}, the tables all of them."
        ]
    if len(conditions) != 1 or not conditions[0]:
        return []
    return [f"There is one condition: \u2068{shorten(conditions[0], LONGEST)}\u2069."]


def _planned(results: Results) -> list[str]:
    """Say how often the protocol was amended; what it declares leads the page."""
    n = n_amendments(results.bundle.protocol)
    return [f"The protocol was amended {count(n, 'time')} after the study opened."] if n else []


def _missing(results: Results) -> list[str]:
    table = results.tables["missing"]
    lacking = table["n_assigned"] - table["n_answered"]
    if not table["n_assigned"].sum():
        return []
    if not lacking.sum():
        return ["Every assigned case was answered by every rater."]
    kinds = [
        f"{int(table[f'n_{status}'].sum()):,} {status.value.replace('_', ' ')}"
        for status in Status
        if status is not Status.ANSWERED and table[f"n_{status}"].sum()
    ]
    n, total = int(lacking.sum()), int(table["n_assigned"].sum())
    verb = "has" if n == 1 else "have"
    what = "assigned reading" if total == 1 else "assigned readings"
    return [f"{n:,} of {total:,} {what} {verb} no answer ({', '.join(kinds)}); {_wrong(results)}."]


def _wrong(results: Results) -> str:
    """Say what of the missing counts as wrong: a case never presented is no answer."""
    kinds = _kinds(results)
    rows = rows_of(results, "missing")
    never = sum(
        number(row, "n_absent") for row in rows if kinds[str(row["rater_id"])] == RaterKind.READER
    )
    others = sum(number(row, "n_assigned") - number(row, "n_answered") for row in rows) - never
    if not never:
        return "they count as incorrect" if others != 1 else "it counts as incorrect"
    what = f"{int(never):,} of them {'was' if never == 1 else 'were'} never presented to a reader"
    return f"{what} and {'does' if never == 1 else 'do'} not count" + (
        ", the others count as incorrect" if others else ""
    )


def _silent(results: Results) -> list[str]:
    """Raters without any reading, who stand in no table but that of missing answers."""
    read = set(results.bundle.readings["rater_id"])
    labels = results.bundle.labels
    silent = [f"\u2068{labels[rater]}\u2069" for rater in sorted(labels) if rater not in read]
    return [f"Without any readings: {listed(silent, most=MOST_NAMED)}."] if silent else []


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
    verb = "was withdrawn and appears" if len(named) == 1 else "were withdrawn and appear"
    return [f"{count(len(named), 'model')} {verb} in no table: {', '.join(named)}."]


def limit_findings(results: Results) -> list[Finding]:
    """Say what brackets hold and how strong the sentences are."""
    if not results.tables["accuracy"]["accuracy"].notna().any():
        return []
    confidence = results.options.confidence_percent
    sentences = [
        f"Brackets hold {confidence} % intervals (those of accuracy"
        f" {'over patients' if results.clustered else 'by Wilson'}); each describes a single"
        " rater or pair. Whether two raters differ is a question for a paired comparison on the"
        " same cases; overlapping or separate intervals do not answer it."
    ]
    panel = rows_of(results, "reader_panel")
    if panel:
        sentences.append(
            "A difference is stated only where its interval excludes 0; “no difference shown” does"
            " not prove that there is none. “These readers” are those who took part; results for"
            " “readers like these” generalise to other readers."
        )
    if len({row["model_id"] for row in panel}) > 1:
        sentences.append(
            "Intervals of models against readers are not adjusted for the number of models;"
            " tables/panel_adjusted.csv has p-values that are (Holm)."
        )
    sentences += _confidence(results, panel)
    return [Finding(theme=Theme.READING, text=" ".join(sentences))]


def _confidence(results: Results, panel: list[Row]) -> list[str]:
    """Say what confidence was taken for, where an area under the curve rests on it."""
    metrics = {row["metric"] for row in (*panel, *rows_of(results, "reader_conditions"))}
    if "auc" not in metrics:
        return []
    taken = confidence_of(results.options, results.bundle)
    origin = f" ({taken.origin})" if taken.origin else ""
    return [f"Confidence was taken as {WORDS[taken.meaning]}{origin}."]
