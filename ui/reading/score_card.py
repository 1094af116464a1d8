"""A reader's score card as HTML, and the route of its films."""

from collections.abc import Mapping
from html import escape

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from study.base.translation import t, tn
from study.people.roles import Act
from study.people.signing_in import Person
from study.reading import score_card
from study.reading.score_card import (
    LEAST_PEERS,
    Comparison,
    Count,
    Others,
    ScoreCard,
    ScoredCase,
    total,
)
from ui.parts.text import film_name, number
from ui.results.case_films import picture
from ui.server.access import answer, status_of
from ui.server.deployment import store

_CSS = """<style>
.scored { display: grid; gap: 1.5rem; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
@media (max-width: 1000px) { .scored { grid-template-columns: minmax(0, 1fr); } }
.st-key-card-others .rr-table th { white-space: normal; }
.st-key-card-others td:first-child { white-space: nowrap; }
.scored img.ahead { display: none; }
.scored h3 { margin: 0 0 1rem; font-size: 1.15rem; font-weight: 600; line-height: 1.4; padding: 0; }
.scored ol { list-style: none; margin: 0; padding: 0; display: grid; gap: .5rem; }
.scored li { margin: 0; padding: .6rem .8rem; border: 1px solid var(--rr-edge);
  border-radius: .5rem; overflow-wrap: anywhere; }
.scored li.right { border: 2px solid var(--rr-good); }
.scored li.wrong { border: 2px dashed var(--rr-bad); }
.scored li.said bdi { white-space: pre-wrap; }
.scored .mark { display: block; margin-top: .25rem; font-size: .9rem; font-weight: 600; }
.scored .verdict { margin: 1rem 0 0; font-weight: 600; }
.scored .why { margin: .6rem 0 0; padding: .7rem .9rem;
  border-inline-start: 3px solid var(--rr-good); white-space: pre-line;
  overflow-wrap: anywhere; line-height: 1.5; }
</style>"""


def routes() -> list[Route]:
    """Return the route."""
    return [Route("/score-card/{position}/films/{view}", _film, methods=["GET"])]


def counts(card: ScoreCard) -> list[tuple[str, str]]:
    """Return how many answers match by task, as rows of text."""
    return [(task or t("No task"), of(count)) for task, count in card.by_task.items()]


def place(card: ScoreCard) -> str:
    """Return in words where a reader stands among the others, or why that is not told."""
    found = card.comparison
    if not card.with_peers or not card.total.n:
        return ""
    if found is None:
        return t("A comparison with other readers is shown to those who have read every case.")
    if found.place is None:
        return t(
            "Your place among other readers is not shown: fewer than {n} others have read every "
            "case.",
            n=LEAST_PEERS,
        )
    words = {"place": found.place, "n": found.n_peers + 1}
    told = (
        t("Your place: {place} (shared) of {n} readers who have read every case.", **words)
        if found.n_sharing
        else t("Your place: {place} of {n} readers who have read every case.", **words)
    )
    return f"{told} {t('Small differences between readers may be due to chance.')}"


def comparison_table(found: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a table: the reader, the others' mean, each model by task."""
    beside: list[tuple[str, Mapping[str, Count]]] = [(t("You"), found.own)]
    if found.peers:
        beside.append((t("Mean of the {n} other readers", n=found.n_peers), found.peers))
    beside += found.models.items()
    tasks = sorted(found.own) if len(found.own) > 1 else []
    named = [(t("All cases"), total(found.own))]
    named += [(task or t("No task"), found.own[task]) for task in tasks]
    rows = [
        [name, *map(_share, (total(counts), *(counts[task] for task in tasks)))]
        for name, counts in beside
    ]
    return ["", *(f"{name} ({count.n})" for name, count in named)], rows


def _share(count: Count) -> str:
    return t("{share} %", share=f"{100 * count.n_correct / count.n:.0f}")


def _others(others: Others) -> str:
    """Return how many others got a case right."""
    readers, models = others.readers, others.models
    told = []
    if readers.n:
        words = {"n": readers.n_correct, "total": readers.n}
        told.append(t("Other readers who answered correctly: {n} of {total}.", **words))
    if models.n:
        words = {"n": models.n_correct, "total": models.n}
        told.append(t("Models that answered correctly: {n} of {total}.", **words))
    return " ".join(told)


def of(count: Count) -> str:
    """Return a count in words; where nothing can be right or wrong, that."""
    if not count.n:
        return t("no reference standard")
    return t("{n} of {total}", n=count.n_correct, total=count.n)


def verdict(case: ScoredCase) -> str:
    """Return whether an answer matches, with a sign and in words."""
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


def case_html(case: ScoredCase, ahead: ScoredCase | None = None) -> str:
    """Return a case with its films, what was answered and what is right; all text is escaped.

    Parameters
    ----------
    ahead
        The case that will probably follow: its films are fetched meanwhile.
    """
    films = "".join(
        f'<figure><img src="{_address(case, place)}" alt="{escape(name)}" '
        f'width="{film.width}" height="{film.height}">'
        f"<figcaption>{escape(name)}</figcaption></figure>"
        for place, film in enumerate(case.films)
        for name in (film_name(film.label, film.prior, film.days),)
    )
    others = escape(_others(case.others)) if case.others else ""
    why = f'<p class="why"><bdi>{escape(case.explanation)}</bdi></p>' if case.explanation else ""
    options = "".join(_option(case, letter, text) for letter, text in case.options)
    if case.open_ended:
        options = _words(case.own, t("● your answer")) + _words(case.right, t("reference answer"))
    without = f"<p>{escape(t('This question was asked without an image.'))}</p>"
    return (
        f'{_CSS}<div class="scored"><div class="films">{films or without}</div><div>'
        f"<h3><bdi>{escape(case.question)}</bdi></h3><ol>{options}</ol>"
        f'<p class="verdict">{escape(verdict(case))}</p><p>{others}</p>{why}</div>'
        f"{_fetched(ahead)}</div>"
    )


def _fetched(case: ScoredCase | None) -> str:
    """Return the films of a case that is not shown yet."""
    addresses = [_address(case, place) for place in range(len(case.films))] if case else []
    return "".join(f'<img class="ahead" src="{one}" alt="">' for one in addresses)


def _address(case: ScoredCase, number: int) -> str:
    return f"score-card/{case.position}/films/{number}"


def summary(card: ScoreCard) -> str:
    """Return in one sentence how much was read and how much of it matches."""
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
        told = t(
            "Your answer matches the reference standard in {n} of {total} cases.",
            n=total.n_correct,
            total=total.n,
        )
    else:
        told = t(
            "Your answer matches the reference standard in {n} of the {total} cases that have one.",
            n=total.n_correct,
            total=total.n,
        )
    return f"{read} {told}"


def _option(case: ScoredCase, letter: str, text: str) -> str:
    marks = []
    if letter == case.right:
        marks.append(t("✓ reference answer"))
    if letter == case.own:
        marks.append(t("● your answer"))
    name = "right" if letter == case.right else "wrong" if letter == case.own else ""
    if case.right is None:
        name = ""
    mark = f'<span class="mark">{escape("   ".join(marks))}</span>' if marks else ""
    return f'<li class="{name}"><strong>{letter}</strong> <bdi>{escape(text)}</bdi>{mark}</li>'


def _words(text: str | None, mark: str) -> str:
    """Return an answer in words; nothing where there is none."""
    marked = f'<span class="mark">{escape(mark)}</span>'
    return f'<li class="said"><bdi>{escape(text)}</bdi>{marked}</li>' if text else ""


async def _film(request: Request) -> Response:
    position, view = (number(request.path_params[key]) for key in ("position", "view"))

    def make(person: Person) -> Response:
        row = score_card.film(store(), person, position, view)
        if row is None:
            why = t("There is no such image on your score card.")
            return PlainTextResponse(why, status_code=404)
        return picture(row)

    return await answer(request, Act.READ, make, t("Sign in as a reader."), status_of)
