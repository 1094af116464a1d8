"""Figures on a dark page: every colour has its partner, text is read, the white one stays."""

import pytest

from analysis.figures.difficulty import difficulty_chart
from analysis.figures.drawing import look
from analysis.figures.drawing.on_dark import DARK, DARK_STEPS, GROUND, ink_on_dark_step, on_dark
from analysis.figures.drawing.to_plotly import plotly_figure
from tests.unit.analysis.figures import tables
from tests.unit.ui.test_look import PAIRS, contrast

SCALES = (look.AGREEMENT_SCALE, look.DIFFERENCE_SCALE, look.COUNT_SCALE)


def test_every_colour_of_the_figures_has_a_dark_partner() -> None:
    """A colour added to the look would otherwise stay as it is on paper."""
    named = {look.PAPER, look.INK, look.QUIET, look.RULE, look.EMPTY, look.SHADE}
    assert set(DARK) == named | set(look.COLOURS.values()) | set(look.PALE.values())
    assert set(DARK_STEPS) == {colour for scale in SCALES for _, colour in scale}


def test_words_and_marks_are_seen_on_the_dark_ground() -> None:
    """Words by 4.5 to 1, marks by 3 to 1; the ground is the page's own."""
    assert PAIRS["ground"]["dark"] == GROUND
    for colour in (look.INK, look.QUIET):
        assert contrast(DARK[colour], GROUND) >= 4.5
    for colour in look.COLOURS.values():
        assert contrast(DARK[colour], GROUND) >= 3


@pytest.mark.parametrize("scale", SCALES)
def test_a_number_in_a_cell_is_read_on_every_step(scale: look.Scale) -> None:
    """Whatever the share, one of the two inks reaches 4.5 to 1, and it is the one taken."""
    dark = tuple((at, DARK_STEPS[colour]) for at, colour in scale)
    for share in range(101):
        back = look.colour_at(dark, share / 100)
        assert contrast(ink_on_dark_step(back), back) >= 4.5, (share, back)


def test_no_white_is_left_on_a_dark_page_and_the_first_stays_white() -> None:
    """Not in the ground, the axes or the cells; the figure of the report is untouched."""
    chart = difficulty_chart(tables.item_difficulty(n=20))
    assert chart is not None
    figure = plotly_figure(chart)
    before = figure.to_json()
    dark = on_dark(figure)
    assert figure.to_json() == before
    assert dark.layout.paper_bgcolor == GROUND
    (cells,) = (one for one in dark.data if one.type == "heatmap")
    assert {colour for _, colour in cells.colorscale} <= set(DARK_STEPS.values())
    assert look.INK not in dark.to_json()
