"""Both themes have the contrasts of WCAG AA, and displayed texts are escaped."""

import re
import tomllib

import pytest

from tests.conftest import ROOT
from ui.parts import theme

STYLES = (ROOT / "ui" / "parts" / "theme.css").read_text()
THEMES = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
_COLOUR = re.compile(r"--rr-([a-z-]+): light-dark\((#\w{6}), (#\w{6})\)")
PAIRS = {name: {"light": light, "dark": dark} for name, light, dark in _COLOUR.findall(STYLES)}
TEXTS = ("ink", "quiet", "accent")
TONES = ("good", "warn", "bad", "info")
SCHEMES = ("light", "dark")


def contrast(first: str, other: str) -> float:
    """Return the contrast ratio of two colours as defined by WCAG."""
    low, high = sorted((_luminance(first), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_has_sufficient_contrast_on_both_backgrounds(scheme: str) -> None:
    """Body text, muted text and links have 4.5 to 1 on the page and on cards."""
    for text in TEXTS:
        for ground in ("ground", "raised"):
            assert contrast(PAIRS[text][scheme], PAIRS[ground][scheme]) >= 4.5, (text, ground)
    assert contrast(PAIRS["on-accent"][scheme], PAIRS["accent"][scheme]) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_badges_have_sufficient_contrast(scheme: str) -> None:
    """The text of each tone has a contrast of at least 4.5 to 1."""
    for tone in TONES:
        assert contrast(PAIRS[tone][scheme], PAIRS[f"{tone}-ground"][scheme]) >= 4.5, tone


@pytest.mark.parametrize("scheme", SCHEMES)
def test_edges_of_controls_have_sufficient_contrast(scheme: str) -> None:
    """They have 3 to 1 to the background."""
    for ground in ("ground", "raised"):
        assert contrast(PAIRS["edge"][scheme], PAIRS[ground][scheme]) >= 3, ground


@pytest.mark.parametrize("scheme", SCHEMES)
def test_streamlits_own_colours_have_sufficient_contrast(scheme: str) -> None:
    """Text, links and notices in Streamlit's theme are checked."""
    theme = THEMES[scheme]
    for ground in (theme["backgroundColor"], theme["secondaryBackgroundColor"]):
        assert contrast(theme["textColor"], ground) >= 4.5
        assert contrast(theme["linkColor"], ground) >= 4.5
        assert contrast(theme["primaryColor"], ground) >= 3
    for name in ("red", "orange", "yellow", "green", "blue", "violet", "gray"):
        own = contrast(theme[f"{name}TextColor"], theme[f"{name}BackgroundColor"])
        assert own >= 4.5, name


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_styles_use_the_colours_of_the_theme(scheme: str) -> None:
    """Both definitions of the background agree."""
    theme = THEMES[scheme]
    assert PAIRS["ground"][scheme] == theme["backgroundColor"]
    assert PAIRS["raised"][scheme] == theme["secondaryBackgroundColor"]
    assert PAIRS["ink"][scheme] == theme["textColor"]
    assert PAIRS["accent"][scheme] == theme["primaryColor"]


def test_a_badge_escapes_its_text() -> None:
    """HTML in a state is shown as text."""
    assert "&lt;b&gt;" in theme.badge_html("<b>")
    assert "rr-good" in theme.state_html("open")
    assert "elsewhere" in theme.state_html("elsewhere")
