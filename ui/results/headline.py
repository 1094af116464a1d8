"""The report's words on a page: what it begins with, and its findings, as HTML."""

from html import escape

from analysis.report.findings.endpoint import VerdictLine
from analysis.report.formats.page import isolated
from analysis.report.headline import Headline
from analysis.report.tables import ReportTable, TableRow
from study.base.translation import said, t

_REPORT = '<div class="rr-report">{}</div>'
MOST_ROWS_SHOWN = 12


def headline_html(headline: Headline) -> str:
    """Return the verdicts, the raters and their agreement; every text is escaped."""
    rows = len(headline.raters.rows)
    tall = " rr-tall" if rows > MOST_ROWS_SHOWN else ""
    return _REPORT.format(
        "".join(map(_verdict, headline.verdicts))
        + f'<div class="rr-table{tall}" tabindex="0">{_table(headline.raters)}</div>'
        + agreement_html(headline)
        + f'<p class="rr-note">{isolated(headline.raters.remark)}</p>'
    )


def agreement_html(headline: Headline) -> str:
    """Return the lines of agreement."""
    return "".join(f'<p class="rr-line">{isolated(line)}</p>' for line in headline.agreement)


def findings_html(found: list[tuple[str, list[str]]]) -> str:
    """Return the findings by theme."""
    parts = (
        f"<dt>{escape(said(theme))}</dt>"
        f"<dd>{''.join(f'<p>{isolated(text)}</p>' for text in texts)}</dd>"
        for theme, texts in found
    )
    return _REPORT.format(f'<dl class="rr-findings">{"".join(parts)}</dl>')


def _verdict(line: VerdictLine) -> str:
    tone = " rr-shown" if line.shown else ""
    word = f"<strong>{escape(line.word)}:</strong> " if line.word else ""
    return f'<p class="rr-verdict{tone}">{word}{isolated(line.text)}</p>'


def _table(table: ReportTable) -> str:
    heads = "".join(
        f'<th scope="col" class="rr-{side}">{escape(head)}</th>'
        for head, side in zip(table.header, table.sides, strict=True)
    )
    body = "".join(_row(row, table.sides) for row in table.rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _row(row: TableRow, sides: tuple[str, ...]) -> str:
    names, cells = row
    who = f" {t('and')} ".join(f"<bdi>{escape(name.full)}</bdi>" for name in names)
    found = "".join(
        f'<td class="rr-{side}">{escape(cell)}</td>'
        for cell, side in zip(cells, sides[1:], strict=True)
    )
    return f'<tr><th scope="row">{who}</th>{found}</tr>'
