"""The methods section of the report, from the descriptions of the statistics, with sources."""

from __future__ import annotations

from analysis.bundle.model import RULE_SETS, RaterKind
from analysis.bundle.protocol import protocol_value
from analysis.presentation.wording import count_with_noun, join_words
from analysis.registry import STATISTICS
from analysis.report.methods.software import packages_used
from analysis.report.methods.sources import (
    Paragraph,
    cited_references,
    further_sources,
    method_references,
    protocol_hash,
    provenance,
)
from analysis.results import Results


def design_paragraph(results: Results) -> Paragraph:
    """Describe the raters and cases, and which answers count as incorrect."""
    counts = results.tables["accuracy"].groupby("rater_kind")["rater_id"].nunique()
    readers, models = (int(counts.get(kind, 0)) for kind in RaterKind)
    items = results.bundle.items
    raters = join_words(
        [
            text
            for text in (_count_if_any(readers, "reader"), _count_if_any(models, "model"))
            if text
        ]
    )
    text = (
        f"{raters} answered the multiple-choice questions of {count_with_noun(len(items), 'case')}"
    )
    text += f", {int((items['truth'] != '').sum()):,} of them with a reference standard."
    text += (
        " Every case with a reference standard is assigned to every rater under every condition in"
        " which the rater has a reading. A case that was never presented to a reader does not count"
        " for that reader; a case without a model's prediction is incorrect, as is a case that was"
        " skipped, timed out, unparsed or refused. Of repeated readings, the first one counts."
    )
    secondary = results.bundle.aside
    if (secondary["run"] != "").any():
        text += (
            " If a model was run several times, its first run counts; a separate table has the"
            " agreement of the runs and the variance that runs add to accuracy."
        )
    others = sorted(
        set(secondary["condition"].unique()) - set(results.bundle.readings["condition"].unique())
    )
    if others:
        text += (
            f" Models' answers under conditions that no reader had ({join_words(others)}) are"
            " compared with the same models' answers to the cases as the readers saw them, and are"
            " not part of any other analysis."
        )
    if RULE_SETS[0] in results.bundle.readings:
        text += _rules_sentence(results)
    if "excluded" in results.bundle.readings.columns:
        dropped = int((results.bundle.readings["excluded"].fillna("") != "").sum())
        if dropped:
            n_dropped = count_with_noun(dropped, "reading")
            text += f" {n_dropped} had been marked as excluded, with a reason."
            drops = protocol_value(results.bundle.protocol, "exclusions") == "primary"
            text += (
                " In accordance with the protocol, the primary analysis drops them; a sensitivity"
                " analysis counts them."
                if drops
                else " The primary analysis counts them; a sensitivity analysis drops them."
            )
    return Paragraph(title="Readings and cases", text=text)


def _rules_sentence(results: Results) -> str:
    """Describe how models' outputs were parsed, and the effect of different rules."""
    readings = results.bundle.readings
    primary = readings["answer"].where(readings["answer"] != "", readings["status"])
    changes = [
        f"the {rules} rules would change {count_with_noun(n, 'answer')}"
        for rules in RULE_SETS
        if (n := int(((readings[rules] != "") & (readings[rules] != primary)).sum()))
    ]
    text = " Models' answers were parsed from their outputs by documented rules"
    if changes:
        text += f"; {join_words(changes)}, and the sensitivity analyses show the effect on accuracy"
    return f"{text}."


def _count_if_any(n: int, word: str) -> str:
    return count_with_noun(n, word) if n else ""


def uncertainty_paragraph(results: Results) -> Paragraph:
    """Describe the intervals, and how undefined values are shown."""
    options = results.options
    also = " and of single comparisons" if results.has("comparisons") else ""
    if results.clustered:
        text = (
            "Some patients (examinations if no patient is stated) have several cases:"
            f" {count_with_noun(results.n_clusters, 'cluster')} in all. Intervals of agreement, and"
            f" second intervals of accuracy{also}, are therefore percentile intervals"
            f" over {options.bootstrap:,} resamples of whole patients [@field2007] (seed"
            f" {options.seed})."
        )
    else:
        text = (
            "No patient or examination has more than one case, so cases count as independent."
            " Intervals of kappas use the normal distribution; those of the other measures of"
            " agreement use the t distribution with n − 1 degrees of freedom. Upper limits are"
            " truncated at 1."
        )
        if results.has("leaderboard") or results.has("agreement_between"):
            text += (
                f" Bootstrap intervals are over cases, {options.bootstrap:,} resamples (seed"
                f" {options.seed})."
            )
    text += (
        f" All intervals are {options.confidence_percent} % (two-sided alpha {options.alpha:g})."
        " Cells of undefined values are empty in the tables, with the reason, and never 0."
    )
    return Paragraph(title="Uncertainty", text=text)


def software_paragraph(results: Results) -> Paragraph:
    """Name the software, the hash of the protocol and the reporting checklists."""
    known = provenance(results)["versions"]
    versions = join_words([f"{name} {known[name]}" for name in ("python", *packages_used(results))])
    digest = protocol_hash(results.bundle.protocol)
    lock_words = (
        "was locked before reading" if "locked" in results.bundle.protocol else "has a hash"
    )
    locked = f" The protocol {lock_words} (SHA-256 {digest})." if digest else ""
    text = (
        f"The analysis was performed with Reading Room's analysis program, on {versions}; the same"
        f" bundle and seed produce identical files.{locked} The reporting checklists are those of"
        f" GRRAS [@kottner2011], STARD-AI [@bossuyt2015; @sounderajah2025], CLAIM [@tejani2024],"
        f" DECIDE-AI [@vasey2022] and human baselines [@wei2025]."
    )
    return Paragraph(title="Software and reporting", text=text)


__all__ = ["Paragraph", "cited_references", "method_references", "methods"]


def methods(results: Results) -> list[Paragraph]:
    """Return the methods section of a run; parts with the same title form one paragraph."""
    parts = {
        0: design_paragraph(results),
        900: uncertainty_paragraph(results),
        950: Paragraph(title="Further sources", text=further_sources()),
        1000: software_paragraph(results),
    }
    for statistic in STATISTICS:
        if results.has(statistic.name):
            for place, (title, text) in statistic.methods.items():
                text_written = text if isinstance(text, str) else text(results)
                parts[place] = Paragraph(title=title, text=text_written)
    texts: dict[str, list[str]] = {}
    for _, part in sorted(parts.items()):
        if part.text:
            texts.setdefault(part.title, []).append(part.text)
    return [Paragraph(title=title, text=" ".join(text)) for title, text in texts.items()]
