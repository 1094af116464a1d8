"""A case of the results as HTML: its films, its options, who answered what."""

from collections.abc import Sequence
from html import escape

from analysis.bundle.model import RaterKind, Status
from analysis.report.items import Case, CaseAnswer
from study.base.translation import t
from ui.results.case_films import CASE_CSS, figure


def case_card(case: Case, films: Sequence[tuple[str, str]]) -> str:
    """Return a case as HTML; every text from outside is escaped.

    Parameters
    ----------
    case
        What was asked and answered.
    films
        Label and address of each film, in the order of the views.
    """
    shown = "".join(figure(label, address) for label, address in films)
    mark = f" <span class=mark>{escape(t('reference standard'))}</span>"
    options = "".join(
        f'<li class="{"reference" if option.is_reference else ""}">'
        f"<strong>{escape(option.letter)}</strong> <bdi>{escape(option.text)}</bdi>"
        f"{mark if option.is_reference else ''}"
        f"{_who([answer for answer in case.answers if answer.letter == option.letter])}</li>"
        for option in case.options
    )
    return (
        f'{CASE_CSS}<div class="case"><div class="films">{shown}</div>'
        f"<div><h4><bdi>{escape(case.question)}</bdi></h4><ol>{options}{_unanswered(case)}</ol></div>"
        "</div>"
    )


def _unanswered(case: Case) -> str:
    missing = [answer for answer in case.answers if not answer.letter]
    return f"<li>{escape(t('No answer'))}{_who(missing)}</li>" if missing else ""


def _who(answers: Sequence[CaseAnswer]) -> str:
    if not answers:
        return ""
    chips = "".join(
        f'<span class="{"reader" if answer.kind is RaterKind.READER else "model"}">'
        f"<bdi>{escape(answer.name.full)}</bdi>{_why(answer)}</span>"
        for answer in answers
    )
    return f'<div class="who">{chips}</div>'


def _why(answer: CaseAnswer) -> str:
    why = {
        Status.SKIPPED: t("skipped"),
        Status.TIMED_OUT: t("timed out"),
        Status.UNPARSED: t("unparsed"),
        Status.REFUSED: t("refused"),
        Status.ABSENT: t("absent"),
    }
    return f": {escape(why[answer.status])}" if answer.status in why else ""
