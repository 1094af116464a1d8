"""A reader's own results: the score card, and the reading record on one sheet.

The record is available as a page for printing and as a PDF.
"""

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path

import typst
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from study.base import translation
from study.base.translation import language, t, tn
from study.people.roles import Act
from study.people.signing_in import Person
from study.reading import score_card
from study.reading.score_card import (
    MIN_PEERS,
    Comparison,
    Count,
    Others,
    ReadingRecord,
    ScoreCard,
    ScoredCase,
    reading_record,
    sum_counts,
)
from ui.overview.case_films import picture_response
from ui.parts.links import attachment
from ui.parts.text import film_name, number
from ui.parts.theme import page_file, style
from ui.server.access import answer, status_of
from ui.server.deployment import Lane, store_with_wait_limit

_CSS = style(page_file(__file__, "score-card.css"))


def routes() -> list[Route]:
    """Return the routes of a score card's films and of the record."""
    return [
        Route("/score-card/{position}/films/{view}", _film, methods=["GET"]),
        *(
            Route(f"/{address}", _record, methods=["GET"])
            for address in (RECORD_PATH, RECORD_PDF_PATH)
        ),
    ]


def task_rows(card: ScoreCard) -> list[tuple[str, str]]:
    """Return the number of matching answers by task, as rows of a table."""
    return [(task or t("No task"), count_text(count)) for task, count in card.by_task.items()]


def rank_text(card: ScoreCard) -> str:
    """Return the reader's rank among the others in words, or why it is not shown."""
    comparison = card.comparison
    if not card.with_peers or not card.total.n:
        return ""
    if comparison is None:
        return t("A comparison with other readers is shown to those who have read every case.")
    if comparison.place is None:
        return t(
            "Your place among other readers is not shown: fewer than {n} others have read every "
            "case.",
            n=MIN_PEERS,
        )
    words = {"place": comparison.place, "n": comparison.n_peers + 1}
    rank = (
        t("Your place: {place} (shared) of {n} readers who have read every case.", **words)
        if comparison.n_sharing
        else t("Your place: {place} of {n} readers who have read every case.", **words)
    )
    return f"{rank} {t('Small differences between readers may be due to chance.')}"


def comparison_table(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows of a table: the reader, the others' mean and each model, by task."""
    columns: list[tuple[str, Mapping[str, Count]]] = [(t("You"), comparison.own)]
    if comparison.peers:
        columns.append((t("Mean of the {n} other readers", n=comparison.n_peers), comparison.peers))
    columns += comparison.models.items()
    tasks = sorted(comparison.own) if len(comparison.own) > 1 else []
    count_columns = [(t("All cases"), sum_counts(comparison.own))]
    count_columns += [(task or t("No task"), comparison.own[task]) for task in tasks]
    rows = [
        [name, *map(_share, (sum_counts(counts), *(counts[task] for task in tasks)))]
        for name, counts in columns
    ]
    return ["", *(f"{name} ({count.n})" for name, count in count_columns)], rows


def _share(count: Count) -> str:
    return t("{share} %", share=f"{100 * count.n_correct / count.n:.0f}")


def _other_readers_text(others: Others) -> str:
    """Return how many others answered a case correctly."""
    readers, models = others.readers, others.models
    sentences = []
    if readers.n:
        words = {"n": readers.n_correct, "total": readers.n}
        sentences.append(t("Other readers who answered correctly: {n} of {total}.", **words))
    if models.n:
        words = {"n": models.n_correct, "total": models.n}
        sentences.append(t("Models that answered correctly: {n} of {total}.", **words))
    return " ".join(sentences)


def count_text(count: Count) -> str:
    """Return a count in words, or that there is no reference standard."""
    if not count.n:
        return t("no reference standard")
    return t("{n} of {total}", n=count.n_correct, total=count.n)


def verdict_text(case: ScoredCase) -> str:
    """Return whether an answer matches, as a symbol and in words."""
    if case.open_ended:
        return t("– Answers in your own words are not scored here.")
    if case.correct is None:
        return t("– There is no reference standard for this case.")
    if case.correct:
        return t("✓ Your answer matches the reference standard.")
    if case.own is None and case.status == "timed_out":
        return t("✗ Time ran out; the reference answer is {right}.", right=case.right)
    if case.own is None:
        return t("✗ You gave no answer; the reference answer is {right}.", right=case.right)
    return t(
        "✗ You answered {own}; the reference answer is {right}.", own=case.own, right=case.right
    )


def case_html(case: ScoredCase, next_case: ScoredCase | None = None) -> str:
    """Return a case with its films, the answer and the correct answer as HTML; all text is escaped.

    Parameters
    ----------
    next_case
        The case that will probably be next, whose films are prefetched.
    """
    films = "".join(
        f'<figure><img src="{_address(case, index)}" alt="{escape(name)}" '
        f'width="{film.width}" height="{film.height}">'
        f"<figcaption>{escape(name)}</figcaption></figure>"
        for index, film in enumerate(case.films)
        for name in (film_name(film.label, film.prior, film.days),)
    )
    others = escape(_other_readers_text(case.others)) if case.others else ""
    explanation_html = (
        f'<p class="why"><bdi>{escape(case.explanation)}</bdi></p>' if case.explanation else ""
    )
    options = "".join(_option_html(case, letter, text) for letter, text in case.options)
    if case.open_ended:
        options = _words_html(case.own, t("● your answer")) + _words_html(
            case.right, t("reference answer")
        )
    no_image_html = f"<p>{escape(t('This question was asked without an image.'))}</p>"
    return (
        f'{_CSS}<div class="scored"><div class="films">{films or no_image_html}</div><div>'
        f"<h3><bdi>{escape(case.question)}</bdi></h3><ol>{options}</ol>"
        f'<p class="verdict">{escape(verdict_text(case))}</p><p>{others}</p>'
        f"{explanation_html}</div>"
        f"{_prefetch_html(next_case)}</div>"
    )


def _prefetch_html(case: ScoredCase | None) -> str:
    """Return HTML that fetches the films of the next case in advance."""
    addresses = [_address(case, index) for index in range(len(case.films))] if case else []
    return "".join(f'<img class="ahead" src="{address}" alt="">' for address in addresses)


def _address(case: ScoredCase, number: int) -> str:
    return f"score-card/{case.position}/films/{number}"


def summary_text(card: ScoreCard) -> str:
    """Return how many cases were read and how many answers match, in one sentence."""
    total = card.total
    read = tn(
        "You read {n} of {total} case.",
        "You read {n} of {total} cases.",
        len(card.cases),
        total=card.n_assigned,
    )
    n_words = sum(case.open_ended for case in card.cases)
    if n_words:
        unscored = tn(
            "{n} answer in your own words is not scored here.",
            "{n} answers in your own words are not scored here.",
            n_words,
        )
        read = f"{read} {unscored}"
    if not total.n:
        return read
    if total.n == len(card.cases) - n_words:
        text = t(
            "Your answer matches the reference standard in {n} of {total} cases.",
            n=total.n_correct,
            total=total.n,
        )
    else:
        text = t(
            "Your answer matches the reference standard in {n} of the {total} cases that have one.",
            n=total.n_correct,
            total=total.n,
        )
    return f"{read} {text}"


def _option_html(case: ScoredCase, letter: str, text: str) -> str:
    marks = []
    if letter == case.right:
        marks.append(t("✓ reference answer"))
    if letter == case.own:
        marks.append(t("● your answer"))
    name = "right" if letter == case.right else "wrong" if letter == case.own else ""
    if case.right is None:
        name = ""
    mark_html = f'<span class="mark">{escape("   ".join(marks))}</span>' if marks else ""
    return f'<li class="{name}"><strong>{letter}</strong> <bdi>{escape(text)}</bdi>{mark_html}</li>'


def _words_html(text: str | None, mark_html: str) -> str:
    """Return an answer in words as HTML; empty if there is none."""
    marked_html = f'<span class="mark">{escape(mark_html)}</span>'
    return f'<li class="said"><bdi>{escape(text)}</bdi>{marked_html}</li>' if text else ""


async def _film(request: Request) -> Response:
    position, view = (number(request.path_params[key]) for key in ("position", "view"))

    def make(person: Person) -> Response:
        row = score_card.film(store_with_wait_limit(), person, position, view)
        if row is None:
            reason = t("There is no such image on your score card.")
            return PlainTextResponse(reason, status_code=404)
        return picture_response(row)

    return await answer(request, Act.READ, make, t("Sign in as a reader."), status_of, Lane.IMAGES)


RECORD_PATH, RECORD_PDF_PATH = "reading-record", "reading-record.pdf"
_TEMPLATE = Path(__file__).parent / "record.typ"
_MINUTE_MS, _HOUR_MIN = 60_000, 60
_RECORD_CSS = page_file(__file__, "reading-record.css")


def record_page(record: ReadingRecord) -> str:
    """Return the reading record as an HTML page; all text from the study is escaped.

    A name typed on the page is only printed, never sent.
    """
    title = t("Reading record")
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd><bdi>{escape(value)}</bdi></dd>"
        for name, value in _record_rows(record)
    )
    name, hint = t("Name"), t("Optional. It is printed, not sent or stored.")
    return (
        f'<!DOCTYPE html><html lang="{escape(language())}" dir="auto"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}: {escape(record.study)}</title>{style(_RECORD_CSS)}"
        f'<main><h1>{escape(title)}</h1><p class="study"><bdi>{escape(record.study)}</bdi></p>'
        f'<dl><dt><label for="name">{escape(name)}</label></dt><dd><input id="name" '
        f'maxlength="100" autocomplete="name" placeholder=" ">'
        f'<small class="hint">{escape(hint)}</small></dd>{rows}</dl>'
        f"<p><small>{escape(_purpose_text())}</small></p>"
        f'<p class="ways"><button onclick="print()">{escape(t("Print"))}</button>'
        f'<a href="{RECORD_PDF_PATH}" download>{escape(t("Download PDF"))}</a>'
        f'<a href="./">{escape(t("Back"))}</a></p></main></html>'
    )


def record_pdf(record: ReadingRecord) -> bytes:
    """Return the reading record as a PDF, without a field for a name."""
    # Imported here because the fonts import matplotlib.
    from analysis.figures.drawing.fonts import FONT_FOLDERS, shared_script

    rows = _record_rows(record)
    data = {
        "title": t("Reading record"),
        "study": record.study,
        "rows": rows,
        "note": _purpose_text(),
        "language": language().split("-")[0],
        "east": shared_script("".join((record.study, *(value for _, value in rows)))),
    }
    return bytes(
        typst.compile(
            str(_TEMPLATE),
            sys_inputs={"data": json.dumps(data)},
            font_paths=FONT_FOLDERS,
            ignore_system_fonts=True,
            format="pdf",
        )
    )


def _record_rows(record: ReadingRecord) -> list[tuple[str, str]]:
    first, last = (
        translation.day(at) if at else "" for at in (record.first_at_utc, record.last_at_utc)
    )
    rows = [
        (t("Reader ID"), record.reader),
        (
            t("Period (UTC)"),
            first if first == last else t("{first} to {last}", first=first, last=last),
        ),
        (t("Cases read"), t("{n} of {total}", n=record.n_read, total=record.n_assigned)),
        (t("Reading time"), _reading_time(record)),
    ]
    if record.score:
        rows.append((t("Answers that match the reference standard"), count_text(record.score)))
    if record.card and record.card.comparison and record.card.comparison.place:
        rows.append((t("Place among readers"), rank_text(record.card)))
    if record.receipt:
        rows.append((t("Receipt"), record.receipt))
    return [(name, value) for name, value in rows if value]


def _reading_time(record: ReadingRecord) -> str:
    """Return the reading time in hours and minutes, and how many cases were timed if not all."""
    if not record.n_timed:
        return ""
    hours, minutes = divmod(round(record.reading_ms / _MINUTE_MS), _HOUR_MIN)
    text = t("{hours} h {minutes} min", hours=hours, minutes=minutes)
    if record.n_timed == record.n_read:
        return text
    return f"{text} ({tn('{n} case timed', '{n} cases timed', record.n_timed)})"


def _purpose_text() -> str:
    return t(
        "This record documents participation in a reader study. Reading "
        "time is the time during which a case was in view and the timer was running. The record "
        "is not a certificate of continuing medical education and awards no credits; whether it "
        "can be recognised is for the awarding body to decide."
    )


async def _record(request: Request) -> Response:
    def make(person: Person) -> Response:
        record = reading_record(store_with_wait_limit(), person)
        if request.url.path.endswith(RECORD_PDF_PATH):
            return Response(
                record_pdf(record),
                media_type="application/pdf",
                headers=attachment(RECORD_PDF_PATH),
            )
        return HTMLResponse(record_page(record), headers={"Cache-Control": "no-store"})

    return await answer(request, Act.READ, make, t("Sign in as a reader."), status_of)
