"""Write the report as PDF with Typst, from the same content as the HTML.

The template receives all text as data, not as markup, so that a name cannot be a command.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typst

from analysis.figures.drawing.axes import shorten
from analysis.figures.drawing.fonts import FOLDERS, without_glyph
from analysis.figures.drawing.layout import LEAST_PT
from analysis.figures.drawing.pages import part_words
from analysis.figures.drawing.to_print import smallest_text_pt
from analysis.report.content import FigureSection, ReportContent, labels
from analysis.report.figures import ReportFigure
from analysis.report.items import ItemList
from analysis.report.methods.sources import numbered
from analysis.report.tables import ReportTable
from analysis.translation import language, t

MOST_LISTED = 12
# Maximum number of rows, and of characters in a row, of a table that is kept on one page.
SHORT_ROWS, SHORT_LINE = 20, 150
# A matrix of two hundred raters is smaller as PNG.
MOST_SVG_BYTES = 3_000_000
# Longer words may be broken anywhere, so that a label of 200 characters fits its cell.
LONGEST_WORD = 18
LONGEST_TITLE = 120
# Minimum and maximum width of a column of ids, and the width of a character in a table.
ITEM_MM, LETTER_MM = (16.0, 38.0), 1.55
TEMPLATE = Path(__file__).parent / "report.typ"


def report_pdf(content: ReportContent) -> bytes:
    """Return the report as tagged PDF on A4, with summary on page 1 and findings on page 2.

    The same content gives the same bytes, because all fonts come from packages and the file has no
    date.
    """
    with tempfile.TemporaryDirectory(prefix="report-") as folder:
        template = prepared(content, Path(folder))
        return bytes(
            typst.compile(
                str(template),
                root=folder,
                font_paths=FOLDERS,
                ignore_system_fonts=True,
                format="pdf",
            )
        )


def prepared(content: ReportContent, place: Path) -> Path:
    """Write the template, its data and the figures to a folder; return the path of the template.

    Typst compiles the template with the folder `place` as its root.
    """
    data = _data(content, place)
    data["lacking"] = without_glyph([json.dumps(data, ensure_ascii=False)])
    (place / "data.json").write_text(json.dumps(data, ensure_ascii=False), "utf-8")
    return Path(shutil.copyfile(TEMPLATE, place / "report.typ"))


def _data(content: ReportContent, place: Path) -> dict[str, Any]:
    order = [reference.key for reference in content.references]
    name = _soft(shorten(content.name, LONGEST_TITLE))
    words = {key: _plain(text) for key, text in labels(content).items()}
    words["title"] = t("{name}: report", name=name)
    lang, _, region = language().partition("-")
    return {
        "lang": lang,
        "region": "CN" if region == "Hans" else region if len(region) == 2 else None,
        "labels": words,
        "name": name,
        "facts": [" ".join(fact) for fact in content.facts],
        "simulated": words["simulated_text"],
        "verdicts": [
            {"word": line.word, "text": _soft(line.text), "shown": line.shown}
            for line in content.headline.verdicts
        ],
        "raters": _table(content.headline.raters.cut(content.headline.raters.most_in_print)),
        "agreement": [_soft(line) for line in content.headline.agreement],
        "overview": None if content.overview is None else _parts(content.overview, place)[0],
        "findings": [
            {"theme": theme, "sentences": [_soft(entry) for entry in sentences]}
            for theme, sentences in content.findings
        ],
        "sections": [_section(section, place) for section in content.sections],
        "items": [_items(entry) for entry in content.item_lists],
        "tables": [_table(table.cut(table.most_in_print)) for table in content.tables],
        "methods": [
            {"title": part.title, "text": numbered(part.text, order)} for part in content.methods
        ],
        "references": [
            f"{cited.source.text} doi:{cited.source.doi}" for cited in content.references
        ],
        "checklists": [
            {
                "title": entry.title,
                "summary": entry.summary,
                "note": entry.note,
                "rows": [
                    [item.number, item.topic, item.state.value, _soft(item.answer), item.place]
                    for item in entry.items
                ],
            }
            for entry in content.checklists
        ],
        "provenance": [[name, _soft(value)] for name, value in content.provenance],
    }


def _section(section: FigureSection, place: Path) -> dict[str, Any]:
    conditions = [
        {
            "name": _soft(condition),
            "figures": [part for figure in figures for part in _parts(figure, place)],
        }
        for condition, figures in section.conditions
    ]
    return {"title": section.title, "conditions": conditions}


def _parts(figure: ReportFigure, place: Path) -> list[dict[str, Any]]:
    """Write the parts of a figure and return their data; the first part has the caption."""
    n = len(figure.svgs)
    parts = []
    for part, svg in enumerate(figure.svgs, start=1):
        light = len(svg) <= MOST_SVG_BYTES
        form = "svg" if light else "png"
        name = figure.files(form)[part - 1]
        (place / name).write_bytes(svg if light else figure.pngs[part - 1])
        title = figure.title if n == 1 else f"{figure.title}, {part_words(part, n)}"
        parts.append(
            {
                "file": name,
                "title": _soft(title),
                "caption": _soft(figure.caption) if part == 1 else "",
                "square": figure.square,
                # The figure may be scaled down until its smallest text has the minimum size.
                "least_scale": min(1.0, LEAST_PT / smallest_text_pt(svg)),
            }
        )
    return parts


def _items(items: ItemList) -> dict[str, Any]:
    left = items.total - len(items.items[:MOST_LISTED])
    has_conditions = any(item.condition for item in items.items)
    return {
        "title": t("{title} ({n})", title=items.title, n=items.total),
        "columns": [
            _width([item.item_id for item in items.items[:MOST_LISTED]]),
            *(
                [_width([item.condition for item in items.items[:MOST_LISTED]])]
                if has_conditions
                else []
            ),
        ],
        "header": [t("Item"), *([t("Condition")] if has_conditions else [])],
        "left": _plain(t("{n} more in `{file}`.", n=left, file="tables/item_difficulty.csv"))
        if left
        else "",
        "rows": [
            [
                _soft(item.item_id),
                *([_soft(item.condition)] if has_conditions else []),
                _soft(item.question or "–"),
                _soft(item.truth),
                item.readers,
                item.models,
            ]
            for item in items.items[:MOST_LISTED]
        ],
    }


def _plain(note: str) -> str:
    return note.replace("`", "")


def _width(words: Sequence[str]) -> float:
    """Return the width in mm of a column that fits ids on one line, up to a maximum."""
    least, max_mm = ITEM_MM
    return min(max_mm, max(least, LETTER_MM * max(map(len, words), default=0) + 3))


def _table(table: ReportTable) -> dict[str, Any]:
    return {
        "title": _soft(table.title),
        "note": f"{table.remark} {_plain(t('File: `{file}`.', file=table.file))}",
        "header": [_soft(head) for head in table.header],
        "sides": list(table.sides),
        "short": _is_short(table),
        "rows": [
            [
                _soft(f" {t('and')} ".join(f"\u2068{name.full}\u2069" for name in names)),
                *map(_soft, cells),
            ]
            for names, cells in table.rows
        ],
    }


def _is_short(table: ReportTable) -> bool:
    """Return whether a table fits on half a page, with few rows of one line each."""
    lines = (
        sum(len(name.full) for name in names) + sum(map(len, cells)) for names, cells in table.rows
    )
    return len(table.rows) <= SHORT_ROWS and all(letters <= SHORT_LINE for letters in lines)


def _soft(text: str) -> str:
    """Allow line breaks in long words, and replace unprintable characters by spaces."""
    line = "".join(
        character if character.isprintable() or character in _KEPT_CHARACTERS else " "
        for character in text
    )
    return " ".join(_broken(word) for word in line.split(" ") if word)


_KEPT_CHARACTERS = frozenset("\u2068\u2069\u200d\u00a0\u00ad")


def _broken(word: str) -> str:
    if len(word) <= LONGEST_WORD:
        return word
    steps = range(0, len(word), LONGEST_WORD // 2)
    return "\u200b".join(word[i : i + LONGEST_WORD // 2] for i in steps)
