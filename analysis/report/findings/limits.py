"""What the numbers on the page are, and what they do not say."""

from __future__ import annotations

from analysis.report.findings.finding import Finding, Theme
from analysis.report.rows import rows_of
from analysis.results import Results


def limit_findings(results: Results) -> list[Finding]:
    """Say what brackets hold and how strong the sentences are."""
    if not results.tables["accuracy"]["accuracy"].notna().any():
        return []
    confidence = results.options.confidence_percent
    sentences = [
        f"Brackets hold {confidence} % intervals, those of accuracy by Wilson; each describes one"
        " rater, or one pair, alone. Whether two raters differ is a paired comparison on the same"
        " items, which overlapping or separate intervals do not replace."
    ]
    if results.clustered:
        sentences.append(
            "Wilson's take the items of a patient for independent; intervals of accuracy over"
            " patients stand in the tables."
        )
    panel = rows_of(results, "reader_panel")
    if panel:
        sentences.append(
            "A difference is stated only where its interval leaves out 0; “no difference shown” is"
            " no proof that there is none. “These readers” holds for the people who read;"
            " “readers like these” lets other readers take their place."
        )
    if len({row["model_id"] for row in panel}) > 1:
        sentences.append("Intervals of models against readers are not adjusted for their number.")
    return [Finding(theme=Theme.READING, text=" ".join(sentences))]
