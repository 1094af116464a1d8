"""Figures on a dark page: colours and contrast."""

from dataclasses import replace

import pytest

from analysis import item_difficulty
from analysis.figures.drawing import colours
from analysis.figures.drawing.chart import Ink, Key
from analysis.figures.drawing.colours import DARK, LIGHT
from analysis.figures.drawing.to_plotly import plotly_figure
from analysis.figures.robustness import difficulty_chart
from tests.unit.analysis.figures import tables
from tests.unit.ui.test_theme import PAIRS, contrast

SCALES = (colours.AGREEMENT_SCALE, colours.DIFFERENCE_SCALE, colours.COUNT_SCALE)


def test_every_colour_of_the_figures_has_a_dark_variant() -> None:
    """All colours of text and scales are replaced."""
    assert set(DARK.colours) == set(LIGHT.colours) == set(LIGHT.pale) == set(DARK.pale) == set(Ink)
    assert set(DARK.steps) == {colour for scale in SCALES for _, colour in scale}
    assert not set(DARK.colours.values()) & set(LIGHT.colours.values())


def test_text_and_marks_have_sufficient_contrast_on_dark_pages() -> None:
    """Text has a contrast of at least 4.5 to 1 with the page, marks at least 3 to 1."""
    assert PAIRS["ground"]["dark"] == DARK.paper
    for colour in (DARK.ink, DARK.quiet):
        assert contrast(colour, DARK.paper) >= 4.5
    for colour in DARK.colours.values():
        assert contrast(colour, DARK.paper) >= 3


@pytest.mark.parametrize("scale", SCALES)
def test_numbers_in_cells_have_sufficient_contrast(scale: colours.Scale) -> None:
    """The text colour chosen for any share has a contrast of at least 4.5 to 1."""
    for share in range(101):
        background = colours.colour_at(DARK.scale(scale), share / 100)
        assert contrast(DARK.ink_on(background), background) >= 4.5, (share, background)


def test_no_white_is_left_on_a_dark_page_except_in_names() -> None:
    """Background, axes and cells change; a rater's name that is a colour name does not."""
    chart = difficulty_chart(item_difficulty(tables.study(n=20)))
    assert chart is not None
    dark = plotly_figure(replace(chart, key=(Key(label=LIGHT.ink, ink=Ink.READER),)), DARK)
    assert dark.layout.paper_bgcolor == DARK.paper
    (cells,) = (entry for entry in dark.data if entry.type == "heatmap")
    assert {colour for _, colour in cells.colorscale} <= set(DARK.steps.values())
    assert dark.to_json().count(LIGHT.ink) == 1
    assert dark.layout.annotations[-1].text == LIGHT.ink
