"""The fonts for print: DejaVu Sans, and Noto fonts for the scripts it lacks, all from packages.

Chinese, Japanese and Korean share characters whose forms differ. Text with kana is set in the
Japanese font, text with hangul in the Korean font, and other text in the font for simplified
Chinese. Arabic and Hebrew use DejaVu Sans; matplotlib shapes and orders their characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

import matplotlib
from matplotlib.font_manager import FontProperties, fontManager, get_font
from matplotlib.ft2font import FT2Font

from analysis.translation import t

MATPLOTLIB_FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
CJK_FONTS, SCRIPT_FONTS = (
    Path(str(files(name))) for name in ("noto_cjk_sans_otc", "manimgx_fonts")
)
# Folders where Typst searches for fonts.
FONT_FOLDERS = [str(MATPLOTLIB_FONTS), str(SCRIPT_FONTS), str(CJK_FONTS)]
# Maximum number of characters without a glyph that are listed.
MAX_LISTED = 6
KANA, HANGUL = (
    re.compile(characters) for characters in ("[\u3040-\u30ff]", "[\u1100-\u11ff\uac00-\ud7af]")
)


def font_properties(text: str, *, bold: bool = False) -> FontProperties:
    """Return the fonts for a text; each is used for the characters that the previous ones lack.

    Matplotlib looks up every font whenever it draws text, so that only the first font is returned
    if it has all characters, as it usually does.
    """
    weight = "bold" if bold else "normal"
    families = _families(shared_script(text))
    few = (
        families[:1] if _code_points_of_first_font(weight).issuperset(map(ord, text)) else families
    )
    return _cached_properties(few, weight)


@cache
def _cached_properties(families: tuple[str, ...], weight: str) -> FontProperties:
    return FontProperties(family=families, weight=weight)


def measuring_font(text: str, *, bold: bool = False) -> FT2Font:
    """Return the fonts for a text as an object that measures text."""
    return get_font(fontManager._find_fonts_by_props(font_properties(text, bold=bold)))


@cache
def code_points() -> frozenset[int]:
    """Return every code point for which a font has a glyph."""
    paths = fontManager._find_fonts_by_props(FontProperties(family=_families("SC")))
    return frozenset(code for path in paths for code in get_font(path).get_charmap())


@cache
def _code_points_of_first_font(weight: str) -> frozenset[int]:
    path = fontManager.findfont(FontProperties(family="DejaVu Sans", weight=weight))
    return frozenset(get_font(path).get_charmap())


def missing_glyphs_sentence(texts: Iterable[str]) -> str:
    """List the characters that have no glyph in any font in a sentence; empty if there are none.

    Examples
    --------
    >>> missing_glyphs_sentence(["Résidente 1", "住院医师"]), missing_glyphs_sentence(["𒀀", "𒀀 1"])
    ('', 'No installed font has a glyph for U+12000 (CUNEIFORM SIGN A).')
    """
    used = {sign for text in texts for sign in unicodedata.normalize("NFC", text)}
    visible = (sign for sign in used if not sign.isspace() and not is_invisible(sign))
    missing_signs = sorted(sign for sign in visible if ord(sign) not in code_points())
    names = [f"U+{ord(sign):04X} ({unicodedata.name(sign, 'no name')})" for sign in missing_signs]
    if not names:
        return ""
    names_shown, more = t(", ").join(names[:MAX_LISTED]), len(names) - MAX_LISTED
    if more > 0:
        return t(
            "No installed font has a glyph for {characters} and {n} more.",
            characters=names_shown,
            n=str(more),
        )
    return t("No installed font has a glyph for {characters}.", characters=names_shown)


def is_invisible(sign: str) -> bool:
    """Return whether a character is a control character, direction mark or variation selector."""
    return unicodedata.category(sign) in ("Cc", "Cf") or "\ufe00" <= sign <= "\ufe0f"


def shared_script(text: str) -> str:
    """Return the script whose glyphs the text uses for shared characters: SC, JP or KR."""
    return "JP" if KANA.search(text) else "KR" if HANGUL.search(text) else "SC"


@cache
def _families(shared_script: str) -> tuple[str, ...]:
    return "DejaVu Sans", f"Noto Sans CJK {shared_script}", *_script_fonts()


@cache
def _script_fonts() -> tuple[str, ...]:
    """Register the fonts with matplotlib, and return the names of those for single scripts."""
    known = len(fontManager.ttflist)
    for path in sorted([*CJK_FONTS.glob("*.ttc"), *SCRIPT_FONTS.glob("*.ttf")]):
        fontManager.addfont(path)
    added = fontManager.ttflist[known:]
    # They take precedence over installed fonts of the same names. They have no bold weight, so that
    # the regular weight is registered as bold for titles.
    fontManager.ttflist[known:] = []
    fontManager.ttflist[:0] = [*added, *(replace(font, weight=700) for font in added)]
    return tuple(dict.fromkeys(font.name for font in added if "CJK" not in font.name))
