"""Other choices, uncertainty, and the software."""

from __future__ import annotations

from analysis.report.methods.citing import Citations, Paragraph, has
from analysis.report.methods.provenance import protocol_hash, provenance
from analysis.report.wording.numbers import count, listed
from analysis.report.wording.rows import rows_of
from analysis.results import Results


def sensitivity(results: Results) -> Paragraph | None:
    """Say which other choices were compared."""
    rows = rows_of(results, "sensitivity")
    if not rows:
        return None
    choices = list(dict.fromkeys(str(row["analysis"]) for row in rows))
    more = [
        str(row["analysis"])
        for row in rows_of(results, "sensitivity_panel")
        if row["analysis"] not in choices
    ]
    choices += list(dict.fromkeys(more))
    text = (
        "The primary analysis counts missing answers as wrong, and leaves out of a reader's items"
        f" those that were never presented. Choices compared: {listed(choices)}."
    )
    return Paragraph(title="Sensitivity analyses", text=text)


def uncertainty(results: Results, cite: Citations) -> Paragraph:
    """Say what intervals are over, and what is done with the undefined."""
    options = results.options
    also = " and of single comparisons" if has(results, "comparisons") else ""
    if results.clustered:
        text = (
            "Some patients (examinations where no patient is given) have several items:"
            f" {count(results.n_clusters, 'cluster')} in all. Intervals of agreement, and second"
            f" intervals of accuracy{also}, are therefore percentile intervals"
            f" over {options.bootstrap:,} resamples of whole patients{cite('field2007')} (seed"
            f" {options.seed})."
        )
    else:
        text = (
            "No patient or examination has more than one item, so that items count as independent."
            " Intervals of kappas are normal, those of the other measures of agreement t with"
            " n − 1 degrees of freedom; upper limits are cut at 1."
        )
        if has(results, "leaderboard") or has(results, "agreement_between"):
            text += (
                f" Bootstrap intervals are over items, {options.bootstrap:,} resamples (seed"
                f" {options.seed})."
            )
    text += (
        f" All intervals are {options.confidence_percent} % (two-sided alpha {options.alpha:g})."
        " What is undefined is left empty with its reason in the tables; it is never set to 0."
    )
    return Paragraph(title="Uncertainty", text=text)


def software(results: Results, cite: Citations) -> Paragraph:
    """Say what computed it, and which checklists stand beside it."""
    versions = listed(
        [f"{name} {number}" for name, number in provenance(results)["versions"].items()]
    )
    digest = protocol_hash(results.bundle.protocol)
    how = "was locked before reading" if "locked" in results.bundle.protocol else "has a hash"
    locked = f" The protocol {how} (SHA-256 {digest})." if digest else ""
    text = (
        f"The analysis was made with Reading Room's analysis program, on {versions}; the same"
        f" bundle and seed give the same bytes.{locked} The reporting checklists are those of GRRAS"
        f"{cite('kottner2011')}, STARD-AI{cite('bossuyt2015', 'sounderajah2025')} and CLAIM"
        f"{cite('tejani2024')}."
    )
    return Paragraph(title="Software and reporting", text=text)
