"""The reading record on one sheet: as a page of its own to print, and as a PDF to keep."""

import json
from html import escape
from pathlib import Path

import typst
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from study.base import translation
from study.base.translation import language, t, tn
from study.people.roles import Act
from study.people.signing_in import Person
from study.reading.score_card import ReadingRecord, reading_record
from ui.reading.score_card import of, place
from ui.server.access import answer, status_of
from ui.server.deployment import store

ADDRESS, PDF = "reading-record", "reading-record.pdf"
_TEMPLATE = Path(__file__).parent / "record.typ"
_MINUTE_MS, _HOUR_MIN = 60_000, 60
_CSS = """
@page { size: A4; margin: 25mm 22mm; }
body { max-width: 42rem; margin: 3rem auto; padding: 0 1.5rem; color: #1f2933; background: #fff;
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { margin: 0 0 .25rem; font-size: 2rem; color: #0b4a7d; }
.study { margin: 0 0 2rem; font-size: 1.25rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: minmax(9rem, 1fr) 2fr; gap: .6rem 2rem; margin: 0 0 2rem;
  padding: 1.2rem 0; border: solid #cfd5db; border-width: 1px 0; }
dt { color: #5b6672; }
dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
input { font: inherit; color: inherit; width: 100%; box-sizing: border-box; padding: .2rem .4rem;
  border: 1px solid #5b6672; border-radius: .3rem; }
small { color: #5b6672; display: block; font-size: .875rem; }
.ways { display: flex; gap: 1rem; align-items: center; margin: 2rem 0 0; }
button { font: inherit; padding: .5rem 1rem; color: #fff; background: #0b4a7d; border: 0;
  border-radius: .5rem; cursor: pointer; }
a { color: #0b4a7d; }
:focus-visible { outline: 3px solid #0b4a7d; outline-offset: 2px; }
@media print { body { max-width: none; margin: 0; padding: 0; } .ways, .hint { display: none; }
  input { border: 0; padding: 0; } :focus-visible { outline: none; }
  :is(dt, dd):has(+ dd > :placeholder-shown), dd:has(> :placeholder-shown) { display: none; } }
"""


def routes() -> list[Route]:
    """Return the routes."""
    return [Route(f"/{address}", _record, methods=["GET"]) for address in (ADDRESS, PDF)]


def page(record: ReadingRecord) -> str:
    """Return the whole page; all text of the study is escaped.

    A name is typed on the page itself, and goes nowhere but onto the paper.
    """
    title = t("Reading record")
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd><bdi>{escape(value)}</bdi></dd>"
        for name, value in _rows(record)
    )
    name, hint = t("Name"), t("Optional. It is printed, not sent or stored.")
    return (
        f'<!DOCTYPE html><html lang="{escape(language())}" dir="auto"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}: {escape(record.study)}</title><style>{_CSS}</style>"
        f'<main><h1>{escape(title)}</h1><p class="study"><bdi>{escape(record.study)}</bdi></p>'
        f'<dl><dt><label for="name">{escape(name)}</label></dt><dd><input id="name" '
        f'maxlength="100" autocomplete="name" placeholder=" ">'
        f'<small class="hint">{escape(hint)}</small></dd>{rows}</dl>'
        f"<p><small>{escape(_what_it_is())}</small></p>"
        f'<p class="ways"><button onclick="print()">{escape(t("Print"))}</button>'
        f'<a href="{PDF}" download>{escape(t("Download PDF"))}</a>'
        f'<a href="./">{escape(t("Back"))}</a></p></main></html>'
    )


def pdf(record: ReadingRecord) -> bytes:
    """Set the same as PDF, without a place for a name."""
    # Only here, because the fonts bring in matplotlib.
    from analysis.figures.drawing.fonts import FOLDERS, east

    rows = _rows(record)
    data = {
        "title": t("Reading record"),
        "study": record.study,
        "rows": rows,
        "note": _what_it_is(),
        "language": language().split("-")[0],
        "east": east("".join((record.study, *(value for _, value in rows)))),
    }
    return bytes(
        typst.compile(
            str(_TEMPLATE),
            sys_inputs={"data": json.dumps(data)},
            font_paths=FOLDERS,
            ignore_system_fonts=True,
            format="pdf",
        )
    )


def _rows(record: ReadingRecord) -> list[tuple[str, str]]:
    first, last = (
        translation.day(at) if at else "" for at in (record.first_at_utc, record.last_at_utc)
    )
    rows = [
        (t("Reader ID"), record.reader),
        (t("Period"), first if first == last else t("{first} to {last}", first=first, last=last)),
        (t("Cases read"), t("{n} of {total}", n=record.n_read, total=record.n_assigned)),
        (t("Reading time"), _time(record)),
    ]
    if record.score:
        rows.append((t("Answers that match the reference standard"), of(record.score)))
    if record.card and record.card.comparison and record.card.comparison.place:
        rows.append((t("Place among readers"), place(record.card)))
    if record.receipt:
        rows.append((t("Receipt"), record.receipt))
    return [(name, value) for name, value in rows if value]


def _time(record: ReadingRecord) -> str:
    """Return how long was read, in hours and minutes, and of how many cases where not of all."""
    if not record.n_timed:
        return ""
    hours, minutes = divmod(round(record.reading_ms / _MINUTE_MS), _HOUR_MIN)
    told = t("{hours} h {minutes} min", hours=hours, minutes=minutes)
    if record.n_timed == record.n_read:
        return told
    return f"{told} ({tn('{n} case timed', '{n} cases timed', record.n_timed)})"


def _what_it_is() -> str:
    return t(
        "This record documents participation in a reader study. Reading "
        "time is the time during which a case was in view and the timer was running. The record "
        "is not a certificate of continuing medical education and awards no credits; whether it "
        "can be recognised is for the awarding body to decide."
    )


async def _record(request: Request) -> Response:
    def make(person: Person) -> Response:
        record, headers = reading_record(store(), person), {"Cache-Control": "no-store"}
        if request.url.path.endswith(PDF):
            headers["Content-Disposition"] = f'attachment; filename="{PDF}"'
            return Response(pdf(record), media_type="application/pdf", headers=headers)
        return HTMLResponse(page(record), headers=headers)

    return await answer(request, Act.READ, make, t("Sign in as a reader."), status_of)
