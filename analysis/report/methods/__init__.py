"""The methods as a paper tells them: what was done in this run, with the sources it needs."""

from __future__ import annotations

from analysis.report.methods.paragraphs import (
    accuracy,
    agreement,
    design,
    models,
    open_ended,
    panel,
    sensitivity,
    single,
    software,
    uncertainty,
)
from analysis.report.methods.references import (
    Citations,
    Paragraph,
    cited,
    further_sources,
    method_references,
)
from analysis.results import Results

__all__ = ["Paragraph", "cited", "method_references", "methods"]


def methods(results: Results) -> list[Paragraph]:
    """Tell what was done in this run.

    Only of what this run computed.
    """
    known = method_references()
    cite = Citations(known)
    parts = [
        design(results),
        accuracy(results, cite),
        open_ended(results, cite),
        agreement(results, cite),
        panel(results, cite),
        single(results, cite),
        models(results, cite),
        sensitivity(results),
        uncertainty(results, cite),
        software(results, cite),
    ]
    paragraphs = [part for part in parts if part is not None]
    rest = further_sources(results, known, cite, [part.text for part in paragraphs])
    if rest:
        paragraphs.insert(-1, Paragraph(title="Further sources", text=rest))
    return paragraphs
