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
from analysis.figures.drawing.fonts import FONT_FOLDERS, missing_glyphs_sentence
from analysis.figures.drawing.layout import MIN_TEXT_PT
from analysis.figures.drawing.pages import part_words
from analysis.figures.drawing.to_print import smallest_text_pt
from analysis.report.content import FigureSection, ReportContent, labels
from analysis.report.figures import ReportFigure
from analysis.report.items import ItemList
from analysis.report.methods.sources import number_citations
from analysis.report.tables import ReportTable
from analysis.translation import current_language, t

MAX_LISTED = 12
# Maximum number of rows, and of characters in a row, of a table that is kept on one page.
MAX_SHORT_ROWS, MAX_SHORT_LINE = 20, 150
# A matrix of two hundred raters is smaller as PNG.
MAX_SVG_BYTES = 3_000_000
# Longer words may be broken anywhere, so that a label of 200 characters fits its cell.
MAX_WORD_LENGTH = 18
MAX_TITLE_LENGTH = 120
# Minimum and maximum width of a column of ids, and the width of a character in a table.
ID_COLUMN_MM, LETTER_WIDTH_MM = (16.0, 38.0), 1.55
TEMPLATE = Path(__file__).parent / "report.typ"


def report_pdf(content: ReportContent) -> bytes:
    """Return the report as tagged PDF on A4, with summary on page 1 and findings on page 2.

    The same content gives the same bytes, because all fonts come from packages and the file has no
    date.
    """
    with tempfile.TemporaryDirectory(prefix="report-") as folder:
        template = prepare_template(content, Path(folder))
        return bytes(
            typst.compile(
                str(template),
                root=folder,
                font_paths=FONT_FOLDERS,
                ignore_system_fonts=True,
                format="pdf",
            )
        )


def prepare_template(content: ReportContent, place: Path) -> Path:
    """Write the template, its data and the figures to a folder; return the path of the template.

    Typst compiles the template with the folder `place` as its root.
    """
    data = _template_data(content, place)
    data["lacking"] = missing_glyphs_sentence([json.dumps(data, ensure_ascii=False)])
    (place / "data.json").write_text(json.dumps(data, ensure_ascii=False), "utf-8")
    return Path(shutil.copyfile(TEMPLATE, place / "report.typ"))


def _template_data(content: ReportContent, place: Path) -> dict[str, Any]:
    order = [reference.key for reference in content.references]
    name = _allow_breaks(shorten(content.name, MAX_TITLE_LENGTH))
    words = {key: _without_backticks(text) for key, text in labels(content).items()}
    words["title"] = t("{name}: report", name=name)
    lang, _, region = current_language().partition("-")
    return {
        "lang": lang,
        "region": "CN" if region == "Hans" else region if len(region) == 2 else None,
        "labels": words,
        "name": name,
        "facts": [" ".join(fact) for fact in content.facts],
        "simulated": words["simulated_text"],
        "verdicts": [
            {"word": line.word, "text": _allow_breaks(line.text), "shown": line.shown}
            for line in content.headline.verdicts
        ],
        "raters": _table_data(
            content.headline.raters.cut(content.headline.raters.max_printed_rows)
        ),
        "agreement": [_allow_breaks(line) for line in content.headline.agreement],
        "overview": None if content.overview is None else _write_parts(content.overview, place)[0],
        "findings": [
            {"theme": theme, "sentences": [_allow_breaks(entry) for entry in sentences]}
            for theme, sentences in content.findings
        ],
        "sections": [_section_data(section, place) for section in content.sections],
        "items": [_items_data(entry) for entry in content.item_lists],
        "tables": [_table_data(table.cut(table.max_printed_rows)) for table in content.tables],
        "methods": [
            {"title": part.title, "text": number_citations(part.text, order)}
            for part in content.methods
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
                    [
                        item.number,
                        item.topic,
                        item.state.value,
                        _allow_breaks(item.answer),
                        item.place,
                    ]
                    for item in entry.items
                ],
            }
            for entry in content.checklists
        ],
        "provenance": [[name, _allow_breaks(value)] for name, value in content.provenance],
    }


def _section_data(section: FigureSection, place: Path) -> dict[str, Any]:
    conditions = [
        {
            "name": _allow_breaks(condition),
            "figures": [part for figure in figures for part in _write_parts(figure, place)],
        }
        for condition, figures in section.conditions
    ]
    return {"title": section.title, "conditions": conditions}


def _write_parts(figure: ReportFigure, place: Path) -> list[dict[str, Any]]:
    """Write the parts of a figure and return their data; the first part has the caption."""
    n = len(figure.svgs)
    parts = []
    for part, svg in enumerate(figure.svgs, start=1):
        light = len(svg) <= MAX_SVG_BYTES
        form = "svg" if light else "png"
        name = figure.files(form)[part - 1]
        (place / name).write_bytes(svg if light else figure.pngs[part - 1])
        title = figure.title if n == 1 else f"{figure.title}, {part_words(part, n)}"
        parts.append(
            {
                "file": name,
                "title": _allow_breaks(title),
                "caption": _allow_breaks(figure.caption) if part == 1 else "",
                "square": figure.square,
                # The figure may be scaled down until its smallest text has the minimum size.
                "least_scale": min(1.0, MIN_TEXT_PT / smallest_text_pt(svg)),
            }
        )
    return parts


def _items_data(items: ItemList) -> dict[str, Any]:
    left = items.total - len(items.items[:MAX_LISTED])
    has_conditions = any(item.condition for item in items.items)
    return {
        "title": t("{title} ({n})", title=items.title, n=items.total),
        "columns": [
            _column_width([item.item_id for item in items.items[:MAX_LISTED]]),
            *(
                [_column_width([item.condition for item in items.items[:MAX_LISTED]])]
                if has_conditions
                else []
            ),
        ],
        "header": [t("Item"), *([t("Condition")] if has_conditions else [])],
        "left": _without_backticks(
            t("{n} more in `{file}`.", n=left, file="tables/item_difficulty.csv")
        )
        if left
        else "",
        "rows": [
            [
                _allow_breaks(item.item_id),
                *([_allow_breaks(item.condition)] if has_conditions else []),
                _allow_breaks(item.question or "–"),
                _allow_breaks(item.truth),
                item.readers,
                item.models,
            ]
            for item in items.items[:MAX_LISTED]
        ],
    }


def _without_backticks(note: str) -> str:
    return note.replace("`", "")


def _column_width(words: Sequence[str]) -> float:
    """Return the width in mm of a column that fits ids on one line, up to a maximum."""
    least, max_mm = ID_COLUMN_MM
    return min(max_mm, max(least, LETTER_WIDTH_MM * max(map(len, words), default=0) + 3))


def _table_data(table: ReportTable) -> dict[str, Any]:
    return {
        "title": _allow_breaks(table.title),
        "note": f"{table.remark} {_without_backticks(t('File: `{file}`.', file=table.file))}",
        "header": [_allow_breaks(head) for head in table.header],
        "sides": list(table.sides),
        "short": _is_short(table),
        "rows": [
            [
                _allow_breaks(f" {t('and')} ".join(f"\u2068{name.full}\u2069" for name in names)),
                *map(_allow_breaks, cells),
            ]
            for names, cells in table.rows
        ],
    }


def _is_short(table: ReportTable) -> bool:
    """Return whether a table fits on half a page, with few rows of one line each."""
    lines = (
        sum(len(name.full) for name in names) + sum(map(len, cells)) for names, cells in table.rows
    )
    return len(table.rows) <= MAX_SHORT_ROWS and all(letters <= MAX_SHORT_LINE for letters in lines)


def _allow_breaks(text: str) -> str:
    """Allow line breaks in long words, and replace unprintable characters by spaces."""
    line = "".join(
        character if character.isprintable() or character in _KEPT_CHARACTERS else " "
        for character in text
    )
    return " ".join(_break_word(word) for word in line.split(" ") if word)


_KEPT_CHARACTERS = frozenset("\u2068\u2069\u200d\u00a0\u00ad")


def _break_word(word: str) -> str:
    if len(word) <= MAX_WORD_LENGTH:
        return word
    steps = range(0, len(word), MAX_WORD_LENGTH // 2)
    return "\u200b".join(word[i : i + MAX_WORD_LENGTH // 2] for i in steps)
