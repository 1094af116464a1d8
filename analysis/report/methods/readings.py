"""The readings and items, and their accuracy."""

from __future__ import annotations

from analysis.bundle.protocol import stated
from analysis.bundle.words import RaterKind
from analysis.report.methods.citing import Citations, Paragraph, has
from analysis.report.wording.numbers import count, listed
from analysis.results import Results


def design(results: Results) -> Paragraph:
    """Say who answered what, and what counts as wrong."""
    counts = results.tables["accuracy"].groupby("rater_kind")["rater_id"].nunique()
    readers, models = (int(counts.get(kind, 0)) for kind in RaterKind)
    items = results.bundle.items
    who = listed([text for text in (_n(readers, "reader"), _n(models, "model")) if text])
    text = f"{who} answered {count(len(items), 'multiple-choice item')}"
    text += f", {int((items['truth'] != '').sum()):,} of them with a reference standard."
    text += (
        " Every item with a reference standard is assigned to every rater under every condition"
        " with any reading. A case that was never presented to a reader is no answer and stands in"
        " no denominator of theirs; an item without a model's prediction is wrong. So is an item"
        " that was skipped, timed out, unparsed or refused. Of repeated readings the first counts."
    )
    if "excluded" in results.bundle.readings.columns:
        dropped = int((results.bundle.readings["excluded"].fillna("") != "").sum())
        if dropped:
            text += f" {count(dropped, 'reading')} had been marked as excluded, with a reason."
            left_out = stated(results.bundle.protocol, "exclusions") == "primary"
            text += (
                " By the protocol the primary analysis leaves them out; beside it stands what"
                " counting them changes."
                if left_out
                else " The primary analysis counts them; beside it stands what dropping them"
                " changes."
            )
    return Paragraph(title="Readings and items", text=text)


def _n(n: int, word: str) -> str:
    return count(n, word) if n else ""


def accuracy(results: Results, cite: Citations) -> Paragraph:
    """Say how accuracies, and ranks, got their intervals."""
    text = (
        "Micro accuracy weighs items alike; its interval is Wilson's score interval"
        f"{cite('wilson1927')}. Macro accuracy is the mean of the tasks' accuracies, with the"
        f" MOVER interval over the tasks' Wilson limits{cite('zou2009')}."
    )
    if has(results, "leaderboard"):
        text += (
            " Both put the raters in order; ranks have intervals by bootstrap, for the order of"
            f" two raters may change with other patients{cite('goldstein1996')}."
        )
    return Paragraph(title="Accuracy", text=text)
