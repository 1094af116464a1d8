"""Questions of a bank on pages: their fields, a question as HTML, and its films.

A bank never changes, so its fields are read once and kept as columns, which makes filters fast.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from itertools import islice

import numpy as np
import pandas as pd
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from study.bank.managing import age_band
from study.base.bank_model import LETTERS
from study.base.text import FirstSpelling, text_key
from study.base.translation import t
from study.people.roles import Act
from study.people.signing_in import Person
from study.store import Store, bank_contents
from study.store.bank_contents import ListedItem
from ui.overview.case_films import CASE_CSS, figure_html, picture_response
from ui.parts.text import film_name, number
from ui.server.access import answer
from ui.server.deployment import Lane, store

FACETS = bank_contents.FACETS
_ROWS_PER_CHUNK = 100_000
_MAX_BANKS_KEPT = 3


@lru_cache(maxsize=_MAX_BANKS_KEPT)
def facets(store: Store, bank: int, content_sha256: str) -> pd.DataFrame:
    """Return a bank's questions by number, a column of categories for each of `FACETS`.

    Parameters
    ----------
    content_sha256
        The hash of the bank's content, because its number may have been reused.
    """
    with store.look() as look:
        rows = bank_contents.facets(look, bank)
        parts = []
        while part := list(islice(rows, _ROWS_PER_CHUNK)):
            parts.append(_columns(part))
    frames = parts or [_columns([])]
    counts = {
        name: _in_first_spelling(pd.api.types.union_categoricals([frame[name] for frame in frames]))
        for name in FACETS
    }
    return pd.DataFrame(counts, index=np.concatenate([frame.index for frame in frames]))


def _in_first_spelling(values: pd.Categorical) -> pd.Categorical:
    """Return values with the first spelling for all that look alike."""
    first = FirstSpelling(text_key)
    spelling = {value: first[value] for value in values.unique()}
    if all(value == other for value, other in spelling.items()):
        return values
    return pd.Categorical(values.map(spelling))


def _columns(rows: Sequence[tuple[object, ...]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["id", *FACETS]).set_index("id")
    bands = {age: age_band(str(age)) for age in frame["age"].unique()}
    frame["age"] = frame["age"].map(bands)
    return frame.astype("category")


def filtered(frame: pd.DataFrame, selection: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return the questions that have one of the wanted values in each filtered column."""
    for name, values in selection.items():
        if values:
            frame = frame[frame[name].isin(values)]
    return frame


def value_counts(frame: pd.DataFrame, name: str) -> pd.Series:
    """Return how many questions have each value of a column, the most frequent first."""
    counts = frame[name].value_counts()
    return counts[counts > 0]


def routes() -> list[Route]:
    """Return the route."""
    return [Route("/bank-films/{bank}/{item}/{view}", _film, methods=["GET"])]


def addresses(current_store: Store, bank: int, item: int) -> list[tuple[str, str]]:
    """Return label and address of every film of an item."""
    with current_store.look(sealed=True) as look:
        views = bank_contents.films_of(look, bank, item)
    return [
        (film_name(view.label, view.prior, view.days), f"bank-films/{bank}/{item}/{n}")
        for n, view in enumerate(views)
    ]


async def _film(request: Request) -> Response:
    bank, item, view = (number(request.path_params[key]) for key in ("bank", "item", "view"))

    def send_film(_: Person) -> Response:
        with store().look(sealed=True) as look:
            views = bank_contents.films_of(look, bank, item)
        if not 0 <= view < len(views):
            return PlainTextResponse(t("There is no such image in this bank."), status_code=404)
        return picture_response(views[view])

    refused = t("Sign in with an account that can set up studies.")
    return await answer(request, Act.MAKE_STUDY, send_film, refused, queue=Lane.IMAGES)


def question_card(
    item: ListedItem, films: Sequence[tuple[str, str]], truth: str = "", explanation: str = ""
) -> str:
    """Return a question as HTML; all external text is escaped.

    Parameters
    ----------
    films
        Label and address of each film.
    truth
        The letter of the reference standard; empty if it must not be shown.
    """
    mark_html = f" <span class=mark>{escape(t('reference standard'))}</span>"
    options = "".join(
        f'<li class="{"reference" if letter == truth else ""}"><strong>{letter}</strong> '
        f"<bdi>{escape(text)}</bdi>{mark_html if letter == truth else ''}</li>"
        for letter, text in zip(LETTERS, json.loads(item.options), strict=False)
    )
    films_html = "".join(figure_html(label, address) for label, address in films)
    explanation_html = f"<p><bdi>{escape(explanation)}</bdi></p>" if explanation else ""
    return (
        f'{CASE_CSS}<div class="case"><div class="films">{films_html}</div>'
        f"<div><h4><bdi>{escape(item.question)}</bdi></h4><ol>{options}</ol>{explanation_html}</div></div>"
    )
