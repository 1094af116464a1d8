"""A question of a bank as HTML: its films, its options, and where it is wanted, which is right."""

import json
from collections.abc import Sequence
from html import escape

from study.base.bank_model import LETTERS
from study.base.translation import t
from study.store.bank_contents import ListedItem
from ui.results.case_films import CASE_CSS, figure


def question_card(
    item: ListedItem, films: Sequence[tuple[str, str]], truth: str = "", explanation: str = ""
) -> str:
    """Return a question as HTML; every text from outside is escaped.

    Parameters
    ----------
    films
        Label and address of each film.
    truth
        The letter of the reference standard; empty where it is not to be shown.
    """
    mark = f" <span class=mark>{escape(t('reference standard'))}</span>"
    options = "".join(
        f'<li class="{"reference" if letter == truth else ""}"><strong>{letter}</strong> '
        f"<bdi>{escape(text)}</bdi>{mark if letter == truth else ''}</li>"
        for letter, text in zip(LETTERS, json.loads(item.options), strict=False)
    )
    shown = "".join(figure(label, address) for label, address in films)
    why = f"<p><bdi>{escape(explanation)}</bdi></p>" if explanation else ""
    return (
        f'{CASE_CSS}<div class="case"><div class="films">{shown}</div>'
        f"<div><h4><bdi>{escape(item.question)}</bdi></h4><ol>{options}</ol>{why}</div></div>"
    )
