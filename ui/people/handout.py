"""New access codes on a page: a sheet of cards to print, a CSV file, links to copy.

The CSV file is made in the browser, and a link carries its code after the # sign: neither the
server's log nor Streamlit's files ever hold one.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

import segno
import streamlit as st

from study.base import translation
from study.base.translation import t, tn
from ui.parts import actions
from ui.parts.new_codes import Card, NewCodes, new_codes
from ui.parts.text import browser_zone, plain

_HTML = """
<div class="tools">
  <button type="button" data-act="print"></button>
  <button type="button" data-act="csv"></button>
</div>
<ol class="cards"></ol>
<p role="status" class="said"></p>
"""

_CSS = """
.tools { display: flex; gap: .6rem; margin-bottom: .75rem; }
button { font: 600 .95rem/1.4 var(--st-font); padding: .45rem .8rem; border-radius: .5rem;
  border: 1px solid var(--rr-edge); background: none; color: inherit; cursor: pointer; }
button:focus-visible { outline: 3px solid var(--st-primary-color); outline-offset: 2px; }
.cards { list-style: none; margin: 0; padding: 0; display: grid; gap: 0;
  grid-template-columns: repeat(auto-fill, minmax(24rem, 1fr)); color: #000; }
.cards li { background: #fff; border: 1px dashed #555; padding: 1rem; display: grid; gap: 0 1rem;
  grid-template-columns: 1fr auto; font: 400 .95rem/1.45 var(--st-font); break-inside: avoid; }
.cards h3 { margin: 0; font-size: 1rem; overflow-wrap: anywhere; }
.cards p { margin: .15rem 0; overflow-wrap: anywhere; }
.cards .who { font-weight: 600; }
.cards .code { font: 700 1.15rem/1.6 ui-monospace, monospace; white-space: nowrap; }
.cards svg { grid-column: 2; grid-row: 1 / span 6; width: 8.5rem; height: 8.5rem; }
.cards button { justify-self: start; border-color: #555; }
.said { min-height: 1.4em; margin: .5rem 0 0; color: var(--st-text-color); font: 400 .95rem/1.4
  var(--st-font); }
.tools { color: var(--st-text-color); }
@media print {
  .tools, .said, .cards button { display: none; }
  .cards { grid-template-columns: 1fr 1fr; }
}
"""

# Only the cards are printed. Streamlit's page scrolls within itself and would print one screen.
_PAPER = """<style>@media print {
  [data-testid="stHeader"], [data-testid="stToolbar"], [data-testid="stStatusWidget"],
  [data-testid="stMainBlockContainer"] *:not(:has(.st-key-handout-cards), .st-key-handout-cards,
    .st-key-handout-cards *) { display: none !important; }
  html, body { background: #fff !important; }
  .stApp, .stAppViewContainer, .stMain, [data-testid="stMainBlockContainer"],
  [data-testid="stMainBlockContainer"] *:has(.st-key-handout-cards) {
    position: static !important; height: auto !important; max-height: none !important;
    overflow: visible !important; background: #fff !important; padding: 0 !important;
    border: 0 !important; }
}</style>"""

_JS = """
const cell = (text) => {
  const safe = /^[=+\\-@\\t\\r]/.test(text) ? "'" + text : text;
  return '"' + safe.replaceAll('"', '""') + '"';
};

function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = element("textarea", "", text);
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

function download(data) {
  const lines = [["reader_id", "access_code", "link", "valid_until"]];
  for (const card of data.cards) lines.push([card.who, card.code, card.link, card.valid_until]);
  const text = lines.map((line) => line.map(cell).join(",")).join("\\r\\n") + "\\r\\n";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\\ufeff" + text], { type: "text/csv" }));
  link.download = "access-codes.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function drawn(card, data, said) {
  const item = document.createElement("li");
  item.append(
    element("h3", "", data.study),
    element("p", "who", card.who),
    element("p", "code", card.code),
    element("p", "address", data.address),
    element("p", "until", card.until),
  );
  const button = element("button", "", data.words.copy);
  button.type = "button";
  button.setAttribute("aria-label", data.words.copy + ": " + card.who);
  button.onclick = async () => {
    await copy(card.link);
    said.textContent = data.words.copied + " " + card.who;
  };
  item.append(button);
  item.insertAdjacentHTML("beforeend", card.qr);
  return item;
}

export default function ({ parentElement, data }) {
  const tool = (name) => parentElement.querySelector(`[data-act=${name}]`);
  tool("print").textContent = data.words.print;
  tool("print").onclick = () => window.print();
  tool("csv").textContent = data.words.csv;
  tool("csv").onclick = () => download(data);
  const said = parentElement.querySelector(".said");
  parentElement.querySelector(".cards").replaceChildren(
    ...data.cards.map((card) => drawn(card, data, said)),
  );
}
"""


@contextmanager
def page(study: str) -> Iterator[None]:
    """Run a page that gives codes; those without a place on it are shown at its top."""
    kept, top = new_codes(), st.container()
    kept.is_shown = False
    yield
    if kept.of(study) and not kept.is_shown:
        with top:
            _codes(kept, study)


def show(study: str, key: str) -> None:
    """Show the new codes of a study (or, where it is empty, of the server) after an action.

    They are shown at the action that added the last one, and at the top of a page entered anew.
    """
    kept = new_codes()
    if kept.of(study) and kept.place == (actions.visit(), key):
        _codes(kept, study)


def _codes(kept: NewCodes, study: str) -> None:
    kept.is_shown = True
    cards, known = kept.cards.get(study, ()), kept.known.get(study, ())
    st.html(_PAPER)
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
                _sheet(study, cards)
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
        actions.turn(t("Hide the codes"), lambda: kept.hide(study), key="handout-done")


def _sheet(study: str, cards: Sequence[Card]) -> None:
    address = _address(str(st.context.url or ""))
    sheet = st.components.v2.component("handout", html=_HTML, css=_CSS, js=_JS)
    sheet(
        key="handout-sheet",
        data={
            "study": study or t("Reading Room"),
            "address": address,
            "cards": [_drawn(card, address) for card in cards],
            "words": {
                "print": t("Print the sheet"),
                "csv": t("Save as CSV"),
                "copy": t("Copy link"),
                "copied": t("Link copied for"),
            },
        },
    )


def _drawn(card: Card, address: str) -> dict[str, str]:
    link = f"{address}#code={card.code}"
    square = segno.make(link, micro=False).svg_inline(omitsize=True)
    until = translation.until(card.expires_at_utc, browser_zone()) if card.expires_at_utc else ""
    return {
        "who": card.who,
        "code": card.code,
        "link": link,
        "qr": square,
        "valid_until": until,
        "until": t("Valid until {moment}", moment=until) if until else "",
    }


def _address(page: str) -> str:
    """Return the address of the app a page of it is at.

    >>> _address("https://study.example.org/rr/people?x=1")
    'https://study.example.org/rr/'
    """
    parts = urlsplit(page)
    return f"{parts.scheme}://{parts.netloc}{parts.path.rpartition('/')[0]}/"
