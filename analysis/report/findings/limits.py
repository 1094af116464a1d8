"""What the numbers on the page are, and what they do not say."""

from __future__ import annotations

from analysis.readings.confidence import WORDS, confidence_of
from analysis.report.findings.finding import Finding, Theme
from analysis.report.wording.rows import Row, rows_of
from analysis.results import Results


def limit_findings(results: Results) -> list[Finding]:
    """Say what brackets hold and how strong the sentences are."""
    if not results.tables["accuracy"]["accuracy"].notna().any():
        return []
    confidence = results.options.confidence_percent
    sentences = [
        f"Brackets hold {confidence} % intervals, those of accuracy"
        f" {'over patients' if results.clustered else 'by Wilson'}; each describes one rater, or"
        " one pair, alone. Whether two raters differ is a paired comparison on the same items,"
        " which overlapping or separate intervals do not replace."
    ]
    panel = rows_of(results, "reader_panel")
    if panel:
        sentences.append(
            "A difference is stated only where its interval leaves out 0; “no difference shown” is"
            " no proof that there is none. “These readers” holds for the people who read;"
            " “readers like these” lets other readers take their place."
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
