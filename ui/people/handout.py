"""New access codes on a page: cards to print, a CSV file, and links to copy.

The CSV file is created in the browser, and a link contains its code after the # sign, so neither
the server's log nor Streamlit's files contain codes.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

import segno
import streamlit as st

from study.base import translation
from study.base.translation import t, tn
from ui.parts import actions
from ui.parts.text import browser_zone, plain
from ui.parts.theme import page_file, style
from ui.server.new_codes import Card, NewCodes, new_codes

_HTML = page_file(__file__, "handout.html")

_CSS = page_file(__file__, "handout.css")

# Only the cards are printed. Streamlit's inner scroll area would otherwise print as one screen.
_PRINT_STYLES = style(page_file(__file__, "handout-print.css"))

_JS = page_file(__file__, "handout.js")


@contextmanager
def page(study: str) -> Iterator[None]:
    """Run a page that creates codes; codes not shown at an action are shown at its top."""
    codes, top = new_codes(), st.container()
    codes.is_shown = False
    yield
    if codes.of(study) and not codes.is_shown:
        with top:
            _show_codes(codes, study)


def show(study: str, key: str) -> None:
    """Show the new codes of a study (of the server, for an empty name) after an action.

    They are shown at the action that added the last code, and at the top after a page change.
    """
    codes = new_codes()
    if codes.of(study) and codes.shown_at == (actions.page_visits(), key):
        _show_codes(codes, study)


def _show_codes(codes: NewCodes, study: str) -> None:
    codes.is_shown = True
    cards, known = codes.cards.get(study, ()), codes.known.get(study, ())
    st.html(_PRINT_STYLES)
    with st.container(key="handout"):
        if cards:
            st.success(
                tn(
                    "One new access code. It is shown until you hide it and cannot be shown "
                    "again: print it, save it or copy its link.",
                    "{n} new access codes. They are shown until you hide them and cannot be shown "
                    "again: print them, save them or copy their links.",
                    len(cards),
                )
            )
            with st.container(key="handout-cards"):
                _show_sheet(study, cards)
        if known:
            st.info(
                plain(
                    t(
                        "Already registered; they sign in with their existing access code: "
                        "{known}.",
                        known=", ".join(known),
                    )
                )
            )
        actions.view_button(t("Hide the codes"), lambda: codes.hide(study), key="handout-done")


def _show_sheet(study: str, cards: Sequence[Card]) -> None:
    address = _address(str(st.context.url or ""))
    sheet = st.components.v2.component("handout", html=_HTML, css=_CSS, js=_JS)
    sheet(
        key="handout-sheet",
        data={
            "study": study or t("Reading Room"),
            "address": address,
            "cards": [_card_data(card, address) for card in cards],
            "words": {
                "print": t("Print the sheet"),
                "csv": t("Save as CSV"),
                "copy": t("Copy link"),
                "copied": t("Link copied for"),
            },
        },
    )


def _card_data(card: Card, address: str) -> dict[str, str]:
    link = f"{address}#code={card.code}"
    qr_svg = segno.make(link, micro=False).svg_inline(omitsize=True)
    expiry = (
        translation.period_end(card.expires_at_utc, browser_zone()) if card.expires_at_utc else ""
    )
    return {
        "who": card.who,
        "code": card.code,
        "link": link,
        "qr": qr_svg,
        "valid_until": expiry,
        "until": t("Valid until {moment}", moment=expiry) if expiry else "",
    }


def _address(page: str) -> str:
    """Return the app's address from a page's address.

    >>> _address("https://study.example.org/rr/people?x=1")
    'https://study.example.org/rr/'
    """
    parts = urlsplit(page)
    return f"{parts.scheme}://{parts.netloc}{parts.path.rpartition('/')[0]}/"
