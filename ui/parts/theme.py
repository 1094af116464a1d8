"""Styles of the staff pages, and small parts shown on several pages.

Arguments of these functions may be external text; they are escaped here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from babel.dates import get_date_format

from study.base.errors import Busy, StudyError
from study.base.text import guard_cell
from study.base.translation import ENGLISH, current_locale, is_right_to_left, language, t, tn
from ui.parts.text import plain, unbroken
from ui.parts.unavailable import stop_with

Row = Sequence[object]
Columns = Mapping[str, Sequence[Any]]
"""A table: the cells of each column by its heading."""

Picked = TypeVar("Picked")
_HEAD_PX, _ROW_PX, TALL_PX = 38, 35, 318


class Tone(StrEnum):
    """The meaning of a badge's colour."""

    QUIET = "quiet"
    INFO = "info"
    GOOD = "good"
    WARN = "warn"


def page_file(module: str, name: str) -> str:
    """Return a file of HTML, CSS or JavaScript next to the module that uses it."""
    return Path(module).with_name(name).read_text(encoding="utf-8")


def style(css: str) -> str:
    """Return styles as an HTML element."""
    return f"<style>{css}</style>"


def apply_styles() -> None:
    """Add the styles to the page."""
    st.html(style(_styles()))


def show_lost_connection() -> None:
    """Show a message on the page while the connection to the server is lost."""
    words = t(
        "The connection to the server is lost. Trying again ... What you typed stays here, "
        "but your last change may not have been saved."
    )
    st.html(f'<p class="rr-lost" role="alert">{escape(words)}</p>')


def page_title(title: str, lead: str = "") -> None:
    """Show a page's title and its purpose in a sentence or two."""
    st.title(plain(title), anchor=False)
    if lead:
        st.html(f'<p class="rr-lead">{escape(lead)}</p>')


def section(title: str, lead: str = "") -> None:
    """Show the heading of a section of a page, and its purpose."""
    st.subheader(plain(title), anchor=False)
    if lead:
        st.html(f'<p class="rr-lead">{escape(lead)}</p>')


@contextmanager
def error_line() -> Iterator[None]:
    """Show the reason if the block raises a `StudyError`, and skip the rest of the block.

    If the store is busy or cannot be reached, skip the rest of the page.
    """
    try:
        yield
    except Busy as error:
        stop_with(error)
    except StudyError as error:
        show_refusal(str(error))


def show_lines(lines: Sequence[str]) -> None:
    """Show faults or other findings, one per line, in a box that scrolls if there are many."""
    with st.container(height=min(420, 60 + 28 * len(lines))):
        st.code("\n".join(lines), language=None, wrap_lines=True)


def show_refusal(reason: str) -> None:
    """Show the reason for a refusal, with each fault on a separate line."""
    first, *faults = reason.splitlines()
    if len(faults) == 1:
        first, faults = f"{first} {faults[0].strip()}", []
    st.error(plain(first))
    if faults:
        st.caption(tn("{n} error", "{n} errors", len(faults)))
        show_lines(faults)


def facts(rows: Iterable[tuple[str, object, str]]) -> None:
    """Show a row of cards, each with a label, a value and a note."""
    st.html(f'<dl class="rr-facts">{"".join(_fact_html(*row) for row in rows)}</dl>')


def state_badge(state: str) -> None:
    """Show the state of a study, a review or a scoring."""
    st.html(f'<p class="rr-badges">{state_html(state)}</p>')


def badge_html(text: str, tone: Tone = Tone.QUIET) -> str:
    """Return a badge as HTML, for tables and cards in HTML."""
    return f'<span class="rr-badge rr-{tone}">{escape(unbroken(text))}</span>'


def state_html(state: str) -> str:
    """Return the badge of a state as HTML; unknown states are shown unchanged."""
    return badge_html(*_state_labels().get(state, (state, Tone.QUIET)))


_NUMBER = " class=rr-number"


def table(columns: Sequence[str], rows: Iterable[Row], *, caption: str) -> None:
    """Show a small HTML table of text; screen readers read its caption."""
    cells = [[_cell_html(value) for value in row] for row in rows]
    first = cells[0] if cells else [""] * len(columns)
    head = "".join(
        f'<th scope="col"{_NUMBER if _NUMBER in below else ""}>{escape(name)}</th>'
        for name, below in zip(columns, first, strict=True)
    )
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    st.html(
        f'<div class="rr-table"><table><caption class="rr-unseen">{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def pick(
    rows: Sequence[Picked], columns: Columns | pd.DataFrame, *, key: str, **options: Any
) -> Picked | None:
    """Show rows as a table and return the selected row."""
    options.setdefault("height", grid_px(rows, most_px=TALL_PX))
    event = grid(columns, key=key, on_select="rerun", selection_mode="single-row", **options)
    return next((rows[n] for n in event["selection"]["rows"] if n < len(rows)), None)


def grid_px(rows: Sized, *, most_px: int | None = None) -> int:
    """Return the height of a table for its rows; a table higher than the limit scrolls."""
    every_px = _HEAD_PX + _ROW_PX * max(1, len(rows))
    return every_px if most_px is None else min(most_px, every_px)


def grid(columns: Columns | pd.DataFrame, **options: Any) -> Any:
    """Show a table that can be sorted, searched and saved, and return the selection.

    Cells are guarded so that a spreadsheet does not treat them as formulas.
    """
    frame = pd.DataFrame(columns)
    texts = frame.select_dtypes(exclude=["number", "bool", "datetime"])
    safe = frame.assign(**{str(name): column.map(_guarded_cell) for name, column in texts.items()})
    shown = {
        str(name): _time_column(column) for name, column in frame.select_dtypes("datetime").items()
    }
    shown |= {
        str(name): st.column_config.NumberColumn(format="localized")
        for name in frame.select_dtypes("number")
    }
    options["column_config"] = shown | dict(options.get("column_config") or {})
    return st.dataframe(safe, hide_index=True, placeholder="", **options)


def arrow(*, forward: bool) -> str:
    """Return an arrow icon that points forward or back in the reading direction."""
    return f":material/arrow_{'forward' if forward != is_right_to_left() else 'back'}:"


def _time_column(column: "pd.Series[pd.Timestamp]") -> Any:
    """Return the format of times in tables; Streamlit's formats have only English month names."""
    pattern = str(get_date_format("medium", current_locale()).pattern)
    if is_right_to_left() or ("MMM" in pattern and language() != ENGLISH):
        pattern = "y-MM-dd"
    day = pattern.replace("y", "YYYY").replace("d", "D")
    return st.column_config.DatetimeColumn(
        format=f"{day} {'HH:mm:ss' if column.dt.second.any() else 'HH:mm'}"
    )


def _guarded_cell(value: Any) -> Any:
    return guard_cell(value) if isinstance(value, str) else value


def _fact_html(label: str, value: object, note: str) -> str:
    small = f'<div class="rr-note">{escape(unbroken(note))}</div>' if note else ""
    return (
        f'<div class="rr-fact"><dt>{escape(label)}</dt>'
        f'<dd><div class="rr-value">{escape(unbroken(str(value)))}</div>{small}</dd></div>'
    )


def _cell_html(value: object) -> str:
    number = isinstance(value, int | float)
    return f"<td{_NUMBER if number else ''}>{escape(unbroken(str(value)))}</td>"


def _state_labels() -> dict[str, tuple[str, Tone]]:
    return {
        "drawn": (t("not open yet"), Tone.INFO),
        "open": (t("open"), Tone.GOOD),
        "closed": (t("closed"), Tone.QUIET),
    }


@cache
def _styles() -> str:
    return (Path(__file__).parent / "theme.css").read_text(encoding="utf-8")
