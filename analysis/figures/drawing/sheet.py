"""A sheet of texts, lines, marks and boxes in millimetres, which is written as SVG.

The files are those that Matplotlib would write for the same figure, in a tenth of the time: each
text is typeset once. Matplotlib's fonts typeset the texts, and its functions write the paths.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any
from urllib.parse import quote

import numpy as np
from matplotlib import _path
from matplotlib.ft2font import LoadFlags
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from analysis.figures.drawing.chart import Side
from analysis.figures.drawing.fonts import font
from analysis.figures.drawing.layout import SMALL_PT, Box

POINTS_PER_INCH, MM_PER_INCH = 72.0, 25.4
POINTS_PER_MM = POINTS_PER_INCH * (1 / MM_PER_INCH)
# Size in points of the glyphs in a file, which are scaled to the size of each text.
FONT_UNITS = 100.0
# Sizes in a font file are in 64ths of its units.
PARTS = 64
# Drawing order of texts and marks that do not belong to a layer of a panel.
ABOVE_PANELS = 1_000.0
# Beginning of the ids of marks before they are hashed.
SALT = "reading-room"
BOX_CODES = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
COMMANDS = [b"M", b"L", b"Q", b"C", b"z"]
HEAD = """<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN"
  "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="{width}pt" height="{height}pt"\
 viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" version="1.1">
 <metadata>
  <rdf:RDF xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:cc="http://creativecommons.org/ns#"\
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
   <cc:Work>
    <dc:type rdf:resource="http://purl.org/dc/dcmitype/StillImage"/>
    <dc:format>image/svg+xml</dc:format>
   </cc:Work>
  </rdf:RDF>
 </metadata>
 <defs>
  <style type="text/css">*{{stroke-linejoin: round; stroke-linecap: butt}}</style>
 </defs>
 <g id="figure_1">
  <g id="patch_1">
   <path d="M 0 {height} \nL {width} {height} \nL {width} 0 \nL 0 0 \nz
" style="fill: #ffffff"/>
  </g>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Typeset:
    """A text in a font of 100 points.

    Parameters
    ----------
    width, height, descent : float
        In points.
    ascender : float
        Height above the baseline of the font's letters, as a share of its size.
    glyphs : tuple of (str, str)
        The id of each glyph, and the attribute of its position.
    """

    width: float
    height: float
    descent: float
    ascender: tuple[int, int]
    glyphs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text with the height of its digits centred on its position."""

    x: float
    y: float
    text: str
    colour: str
    size_pt: float = SMALL_PT
    bold: bool = False
    side: Side = Side.LEFT
    angle: float = 0
    order: float = ABOVE_PANELS

    def placed(self) -> tuple[float, float]:
        """Return the start of the baseline in points from the lower left corner of the sheet."""
        (offset_x, offset_y), (_, high, _) = self._anchor()
        x, y = _turned(0.0, -high, self.angle)
        return x - offset_x + self.x * POINTS_PER_MM, y - offset_y + self.y * POINTS_PER_MM

    def box(self) -> Box:
        """Return the left, lower, right and upper end of the text."""
        (offset_x, offset_y), (wide, high, low) = self._anchor()
        corners = [_turned(x, y, self.angle) for x in (0.0, wide) for y in (-high - low, 0.0)]
        xs = [(x - offset_x) / POINTS_PER_MM + self.x for x, _ in corners]
        ys = [(y - offset_y) / POINTS_PER_MM + self.y for _, y in corners]
        return min(xs), min(ys), max(xs), max(ys)

    def _anchor(self) -> tuple[tuple[float, float], tuple[float, float, float]]:
        """Return the point of the text at its position; and its width, ascent and descent."""
        text, scale = typeset(self.text, bold=self.bold), self.size_pt / FONT_UNITS
        ascender, units = text.ascender
        wide, low = text.width * scale, text.descent * scale
        font_scale = 1 / units * self.size_pt * POINTS_PER_INCH / POINTS_PER_INCH
        high = max(text.height * scale - low, ascender * font_scale)
        across = {Side.LEFT: 0.0, Side.CENTRE: wide / 2, Side.RIGHT: wide}[self.side]
        return _turned(across, -high / 2, self.angle), (wide, high, low)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """A line through positions, broken where they are nan."""

    x: Sequence[float]
    y: Sequence[float]
    colour: str
    width_pt: float
    dashes: Sequence[float] = ()
    order: float = ABOVE_PANELS


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Equal marks at positions; `shape` is Matplotlib's name of a marker."""

    x: Sequence[float]
    y: Sequence[float]
    shape: str
    size_pt: float
    colour: str
    edge: str
    edge_pt: float
    order: float = ABOVE_PANELS


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """Filled boxes of left, bottom, right and top."""

    boxes: Sequence[Sequence[float]]
    colour: str
    order: float = ABOVE_PANELS


@dataclass(frozen=True, slots=True)
class Sheet:
    """A figure with positions in millimetres from its lower left corner."""

    width: float
    height: float
    fills: list[Fill] = field(default_factory=list)
    lines: list[Stroke | Marks] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)

    def svg(self) -> bytes:
        """Return the sheet as SVG: text as paths, the same bytes every time."""
        return "".join(_Writer(self).parts()).encode()


class _Writer:
    """Writes a sheet; glyphs and marks are defined where they are first used."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.size = [mm / MM_PER_INCH * POINTS_PER_INCH for mm in (sheet.width, sheet.height)]
        self.scaled = np.array(
            [[POINTS_PER_MM, 0, 0], [0, -POINTS_PER_MM, self.size[1]], [0, 0, 1]]
        )
        self.glyphs: set[str] = set()
        self.marks: set[str] = set()

    def parts(self) -> Iterator[str]:
        width, height = map(_short, self.size)
        yield HEAD.format(width=width, height=height)
        groups = {"patch": 1, "line2d": 0, "text": 0}
        elements = chain(self.sheet.fills, self.sheet.lines, self.sheet.texts)
        for element in sorted(elements, key=attrgetter("order")):
            match element:
                case Fill():
                    name, content = "patch", self._fill(element)
                case Stroke():
                    name, content = "line2d", self._stroke(element)
                case Marks():
                    name, content = "line2d", self._marks(element)
                case Text():
                    name, content = "text", self._text(element)
            groups[name] += 1
            yield _group(2, f' id="{name}_{groups[name]}"', content)
        yield " </g>\n</svg>\n"

    def _fill(self, fill: Fill) -> str:
        corners = [((a, b), (c, b), (c, d), (a, d), (a, b)) for a, b, c, d in fill.boxes]
        path = Path(np.reshape(corners, (-1, 2)), BOX_CODES * len(corners))
        return f'   <path{_d(self._path(path))} style="fill: {fill.colour}"/>\n'

    def _stroke(self, stroke: Stroke) -> str:
        if not stroke.x:
            return ""
        style = {"fill": "none"}
        if stroke.dashes:
            lengths = (length * stroke.width_pt for length in stroke.dashes)
            style |= {"stroke-dasharray": ",".join(map(_short, lengths)), "stroke-dashoffset": "0"}
        style |= _stroked(stroke.colour, stroke.width_pt, "miter")
        path = self._path(Path(np.column_stack([stroke.x, stroke.y])), (0.0, 0.0, *self.size))
        return f'   <path{_d(path)} style="{_css(style)}"/>\n'

    def _path(self, path: Path, clip: Any = None) -> str:
        return _path_data(path, self.scaled, clip)

    def _marks(self, marks: Marks) -> str:
        if not marks.x:
            return ""
        marker = MarkerStyle(marks.shape)
        shape: Any = marker.get_transform()
        shape = shape.scale(marks.size_pt) + Affine2D().scale(1.0, -1.0)
        path = _path_data(marker.get_path(), shape.get_matrix())
        outline = _stroked(marks.edge, marks.edge_pt, str(marker.get_joinstyle()))
        style = _css({"fill": marks.colour, **outline})
        digest = hashlib.sha256(f"{SALT}{(path, style)}".encode()).hexdigest()
        mark_id = f"m{digest[:10]}"
        definition = ""
        if mark_id not in self.marks:
            self.marks.add(mark_id)
            definition = _defined(3, f'id="{mark_id}"{_d(path)} style="{_css(outline)}"')
        places = zip(marks.x, marks.y, strict=True)
        uses = "".join(
            f'    <use xlink:href="#{mark_id}" x="{_short(x * POINTS_PER_MM)}"'
            f' y="{_short(-y * POINTS_PER_MM + self.size[1])}" style="{style}"/>\n'
            for x, y in places
            if not (math.isnan(x) or math.isnan(y))
        )
        return definition + _group(3, "", uses)

    def _text(self, text: Text) -> str:
        x, y = text.placed()
        scale = text.size_pt / FONT_UNITS
        turn = f" rotate({_short(-text.angle)})" if text.angle else ""
        look = (
            f' style="fill: {text.colour}" transform="translate({_short(x)}'
            f' {_short(self.size[1] - y)}){turn} scale({_short(scale)} {_short(-scale)})"'
        )
        glyphs = typeset(text.text, bold=text.bold).glyphs
        added = dict.fromkeys(name for name, _ in glyphs if name not in self.glyphs)
        self.glyphs |= added.keys()
        outlines = [f'id="{name}"{_d(_outlines()[name])} {GLYPH_SCALE}' for name in added]
        uses = [f'    <use xlink:href="#{name}"{place}/>\n' for name, place in glyphs]
        content = (_defined(4, *outlines) if outlines else "") + "".join(uses)
        return f"   <!-- {_comment(text.text)} -->\n" + _group(3, look, content)


# Glyphs are in whole parts of a font's units.
GLYPH_SCALE = f'transform="scale({1 / PARTS})"'


@lru_cache(maxsize=4096)
def typeset(text: str, *, bold: bool) -> Typeset:
    """Typeset a text."""
    used, outlines, glyphs = font(text, bold=bold), _outlines(), []
    used.set_size(FONT_UNITS, POINTS_PER_INCH)
    used.set_text(text, 0.0, flags=LoadFlags.NO_HINTING)
    (width, height), descent = used.get_width_height(), used.get_descent()
    for item in used._layout(text, LoadFlags.NO_HINTING):
        name = quote(f"{item.ft_object.postscript_name}-{item.glyph_index:x}")
        if name not in outlines:
            item.ft_object.load_glyph(item.glyph_index, flags=LoadFlags.NO_HINTING)
            vertices, codes = item.ft_object.get_path()
            outlines[name] = _path_data(Path(vertices * PARTS, codes))
        moved = item.x or item.y
        place = f' transform="translate({_short(item.x)} {_short(item.y)})"' if moved else ""
        glyphs.append((name, place))
    return Typeset(
        width=width / PARTS,
        height=height / PARTS,
        descent=descent / PARTS,
        ascender=_ascender(used),
        glyphs=tuple(glyphs),
    )


def _ascender(used: Any) -> tuple[int, int]:
    """Return the height of a font's letters, and its size, in the font's units."""
    metrics, head = used.get_sfnt_table("OS/2"), used.get_sfnt_table("head")
    return metrics["sTypoAscender"], head["unitsPerEm"]


@cache
def _outlines() -> dict[str, str]:
    """Return the paths of the glyphs typeset so far, by their ids."""
    return {}


def _turned(x: float, y: float, degrees: float) -> tuple[float, float]:
    if not degrees:
        return x, y
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return cos * x - sin * y, sin * x + cos * y


def _path_data(path: Path, matrix: Any = None, clip: Any = None) -> str:
    write: Any = vars(_path)["convert_to_string"]  # its types lack the function
    return str(write(path, matrix, clip, False, None, 6, COMMANDS, False), "ascii")


def _group(depth: int, attributes: str, content: str) -> str:
    indent = " " * depth
    if not content:
        return f"{indent}<g{attributes}/>\n"
    return f"{indent}<g{attributes}>\n{content}{indent}</g>\n"


def _defined(depth: int, *paths: str) -> str:
    indent = " " * depth
    content = "".join(f"{indent} <path {attributes}/>\n" for attributes in paths)
    return f"{indent}<defs>\n{content}{indent}</defs>\n"


def _d(path: str) -> str:
    """Return the attribute of a path, which a path without points does not have."""
    return f' d="{path}"' if path else ""


def _stroked(colour: str, width_pt: float, joined: str) -> dict[str, str]:
    style = {"stroke": colour}
    if width_pt != 1.0:
        style["stroke-width"] = _short(width_pt)
    return style if joined == "round" else {**style, "stroke-linejoin": joined}


def _css(style: dict[str, str]) -> str:
    return "; ".join(f"{name}: {value}" for name, value in style.items())


def _comment(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub("-(?=-)", "- ", escaped)


def _short(value: float) -> str:
    return f"{value:f}".rstrip("0").rstrip(".")
