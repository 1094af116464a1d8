"""The colours of both themes keep WCAG AA, and what the parts show is escaped."""

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
    """Return WCAG's contrast of two colours."""
    low, high = sorted((_luminance(first), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_is_read_on_either_ground(scheme: str) -> None:
    """Body text, quiet text and links: 4.5 to 1 on the page and on cards."""
    for text in TEXTS:
        for ground in ("ground", "raised"):
            assert contrast(PAIRS[text][scheme], PAIRS[ground][scheme]) >= 4.5, (text, ground)
    assert contrast(PAIRS["on-accent"][scheme], PAIRS["accent"][scheme]) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_badges_are_read_on_their_own_ground(scheme: str) -> None:
    """Each tone's word on its ground: 4.5 to 1."""
    for tone in TONES:
        assert contrast(PAIRS[tone][scheme], PAIRS[f"{tone}-ground"][scheme]) >= 4.5, tone


@pytest.mark.parametrize("scheme", SCHEMES)
def test_controls_have_an_edge(scheme: str) -> None:
    """Controls have a contrast of 3 to 1 to their background."""
    for ground in ("ground", "raised"):
        assert contrast(PAIRS["edge"][scheme], PAIRS[ground][scheme]) >= 3, ground


@pytest.mark.parametrize("scheme", SCHEMES)
def test_streamlits_own_colours_keep_the_contrast(scheme: str) -> None:
    """Text, links and the words of notices in the theme that Streamlit draws with."""
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
    """The two places that name a ground agree, so that the contrasts above are those seen."""
    theme = THEMES[scheme]
    assert PAIRS["ground"][scheme] == theme["backgroundColor"]
    assert PAIRS["raised"][scheme] == theme["secondaryBackgroundColor"]
    assert PAIRS["ink"][scheme] == theme["textColor"]
    assert PAIRS["accent"][scheme] == theme["primaryColor"]


def test_a_badge_escapes_its_word() -> None:
    """A state from outside is text."""
    assert "&lt;b&gt;" in theme.badge_html("<b>")
    assert "rr-good" in theme.state_html("open")
    assert "elsewhere" in theme.state_html("elsewhere")
