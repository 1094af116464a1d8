"""Text for print: what the font has glyphs for, and how wide it runs.

DejaVu Sans ships with matplotlib, so that a figure looks the same on every machine. It holds Latin,
Greek, Cyrillic, Hebrew and Arabic, which matplotlib shapes and orders.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import Path

import matplotlib
from matplotlib.font_manager import FontProperties, get_font
from matplotlib.ft2font import LoadFlags

from analysis.figures.drawing.chart import Label
from analysis.figures.drawing.layout import MM_PER_POINT
from analysis.figures.drawing.names import BIDI

BOX = "□"
JOINERS = frozenset("\u200c\u200d")
_LARGE_PT = 100.0


def face(*, bold: bool = False) -> FontProperties:
    """Return the font."""
    return FontProperties(fname=_path(bold))


def printable(label: Label) -> str:
    """Return a label's text in glyphs that the font has.

    Signs without a glyph show as a box; where another wording is given that has them all, that
    stands instead.

    Examples
    --------
    >>> printable(Label(text="Résidente 1"))
    'Résidente 1'
    >>> printable(Label(text="住院医师", otherwise="R07"))
    'R07'
    >>> printable(Label(text="住 a"))
    '□ a'
    """
    text = _clean(label.text)
    if BOX not in text or not label.otherwise:
        return text
    otherwise = _clean(label.otherwise)
    return text if BOX in otherwise else otherwise


@lru_cache(maxsize=4096)
def width_mm(label: Label, size_pt: float, bold: bool) -> float:
    """Return how wide a label runs as printed, in millimetres."""
    font = get_font(_path(bold))
    font.set_size(_LARGE_PT, 72)
    font.set_text(printable(label), 0.0, flags=LoadFlags.NO_HINTING)
    return float(font.get_width_height()[0]) / 64 / _LARGE_PT * size_pt * MM_PER_POINT


def _clean(text: str) -> str:
    font = get_font(_path(False))
    shown = []
    for sign in unicodedata.normalize("NFC", " ".join(text.split())):
        if sign in BIDI or (_unseen(sign) and sign not in JOINERS):
            continue
        shown.append(sign if _has(font, sign) else "" if sign in JOINERS else BOX)
    return "".join(shown)


def _has(font: matplotlib.ft2font.FT2Font, sign: str) -> bool:
    return bool(font.get_char_index(ord(sign)))


def _unseen(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Cf") or "\ufe00" <= sign <= "\ufe0f"


@lru_cache(maxsize=2)
def _path(bold: bool) -> Path:
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name
