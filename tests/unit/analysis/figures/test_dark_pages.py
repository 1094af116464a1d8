"""Figures on a dark page: every colour has its partner, and text is read."""

from dataclasses import replace

import pytest

from analysis.figures.drawing import look
from analysis.figures.drawing.chart import Ink, Key
from analysis.figures.drawing.look import DARK, LIGHT
from analysis.figures.drawing.to_plotly import plotly_figure
from analysis.figures.robustness import difficulty_chart
from tests.unit.analysis.figures import tables
from tests.unit.ui.test_theme import PAIRS, contrast

SCALES = (look.AGREEMENT_SCALE, look.DIFFERENCE_SCALE, look.COUNT_SCALE)


def test_every_colour_of_the_figures_has_a_dark_partner() -> None:
    """Every ink and every step of a scale; nothing stays as it is on paper."""
    assert set(DARK.colours) == set(LIGHT.colours) == set(LIGHT.pale) == set(DARK.pale) == set(Ink)
    assert set(DARK.steps) == {colour for scale in SCALES for _, colour in scale}
    assert not set(DARK.colours.values()) & set(LIGHT.colours.values())


def test_words_and_marks_are_seen_on_the_dark_ground() -> None:
    """Words by 4.5 to 1, marks by 3 to 1; the ground is the page's own."""
    assert PAIRS["ground"]["dark"] == DARK.paper
    for colour in (DARK.ink, DARK.quiet):
        assert contrast(colour, DARK.paper) >= 4.5
    for colour in DARK.colours.values():
        assert contrast(colour, DARK.paper) >= 3


@pytest.mark.parametrize("scale", SCALES)
def test_a_number_in_a_cell_is_read_on_every_step(scale: look.Scale) -> None:
    """For any share the chosen one of the two inks has a contrast of at least 4.5 to 1."""
    for share in range(101):
        back = look.colour_at(DARK.scale(scale), share / 100)
        assert contrast(DARK.ink_on(back), back) >= 4.5, (share, back)


def test_no_white_is_left_on_a_dark_page_but_what_a_rater_is_called_stays() -> None:
    """Not in the ground, the axes or the cells; a name that reads as a colour is a name."""
    chart = difficulty_chart(tables.item_difficulty(n=20))
    assert chart is not None
    dark = plotly_figure(replace(chart, key=(Key(label=LIGHT.ink, ink=Ink.READER),)), DARK)
    assert dark.layout.paper_bgcolor == DARK.paper
    (cells,) = (entry for entry in dark.data if entry.type == "heatmap")
    assert {colour for _, colour in cells.colorscale} <= set(DARK.steps.values())
    assert dark.to_json().count(LIGHT.ink) == 1
    assert dark.layout.annotations[-1].text == LIGHT.ink
