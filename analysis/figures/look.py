"""The look of all figures: ink on paper, one colour for readers, one for models."""

from __future__ import annotations

from typing import Any

from analysis.bundle.words import RaterKind

FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
INK = "#1f2933"
PAPER = "#ffffff"
QUIET = "#66717d"
RULE = "#e3e7eb"
EMPTY = "#eef0f2"
# Told apart by people with any colour vision (Okabe and Ito's blue and vermilion), and by shape.
COLOURS = {RaterKind.READER: "#0072b2", RaterKind.MODEL: "#c1511a"}
SYMBOLS = {RaterKind.READER: "circle", RaterKind.MODEL: "diamond"}
# White at 0: below chance is red, above chance blue.
AGREEMENT_SCALE = [
    [0.0, "#a33b2e"],
    [0.25, "#dd9b8c"],
    [0.5, "#ffffff"],
    [0.625, "#d3e3f0"],
    [0.75, "#8fb8d9"],
    [0.875, "#3f82b5"],
    [1.0, "#0b4a7d"],
]
DARK_FROM = 0.62


def base_layout(**more: Any) -> dict[str, Any]:
    """Return the layout that all figures share, with `more` over it."""
    return {
        "template": "none",
        "font": {"family": FONT, "size": 13, "color": INK},
        "paper_bgcolor": PAPER,
        "plot_bgcolor": PAPER,
        "hoverlabel": {"font": {"family": FONT, "size": 13}, "align": "left"},
        "showlegend": False,
        **more,
    }
