"""Plain HTML in Streamlit: forms that set or clear the cookie, downloads that need it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape

import streamlit as st

from study.access import Standing
from study.words import language, t

_CSS = """
form { display: grid; gap: .75rem; max-width: 34rem; color: var(--st-text-color);
  font-family: var(--st-font); }
label { font-size: .95rem; }
input { font: 600 1.15rem/1.4 ui-monospace, monospace; letter-spacing: .08em; padding: .7rem .8rem;
  border: 1px solid var(--rr-edge); border-radius: .5rem; color: inherit;
  background: var(--st-secondary-background-color); text-transform: uppercase; }
input::placeholder { color: var(--rr-quiet); opacity: 1; }
input:focus-visible, button:focus-visible, a:focus-visible {
  outline: 3px solid var(--st-primary-color); outline-offset: 2px; }
a { font: 600 1rem/1.4 var(--st-font); padding: .6rem .9rem; border-radius: .5rem;
  color: var(--rr-on-accent); background: var(--st-primary-color); text-decoration: none;
  display: inline-block; }
table { border-collapse: collapse; width: 100%; font: .95rem/1.5 var(--st-font);
  color: var(--st-text-color); }
caption { text-align: left; padding-bottom: .4rem; opacity: .85; }
th, td { text-align: left; vertical-align: top; padding: .55rem 1rem .55rem 0; font-weight: 400;
  border-bottom: 1px solid var(--st-border-color); }
thead th { font-weight: 600; }
th a { padding: 0; color: var(--st-link-color); background: none; text-decoration: underline; }
td.n { white-space: nowrap; text-align: right; }
code { font: .8rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
.links { display: flex; flex-wrap: wrap; gap: .6rem; }
button { font: 600 1rem/1.4 var(--st-font); padding: .7rem .8rem; border: 0; border-radius: .5rem;
  color: var(--rr-on-accent); background: var(--st-primary-color); cursor: pointer; }
.quiet button { justify-self: start; padding: .4rem .8rem; color: inherit; background: none;
  border: 1px solid var(--rr-edge); font-weight: 500; }
"""

_SIGN_IN = """
<form method="post" action="sign-in">
  <label for="access_code"></label>
  <input id="access_code" name="access_code" required autofocus autocomplete="off"
    autocapitalize="characters" spellcheck="false" placeholder="XXXX-XXXX-XXXX-XXXX"
    maxlength="60">
  <button type="submit"></button>
</form>
"""

# A link hands its code over behind the # sign, which no browser sends to a server.
_FOCUS = """
const seen = new WeakSet();
export default function ({ parentElement, data }) {
  const field = parentElement.querySelector("input");
  parentElement.querySelector("label").textContent = data.label;
  parentElement.querySelector("button").textContent = data.button;
  const given = new URLSearchParams(location.hash.slice(1)).get("code");
  if (given) {
    field.value = given.slice(0, 60);
    history.replaceState(history.state, "", location.pathname + location.search);
  }
  if (!seen.has(parentElement)) {
    seen.add(parentElement);
    field.focus();
  }
}
"""

_TICKET = """
<form method="post" action="sign-in">
  <input type="hidden" name="ticket">
  <button type="submit"></button>
</form>
"""

_SEND = """
const sent = new WeakSet();
export default function ({ parentElement, data }) {
  const form = parentElement.querySelector("form");
  form.querySelector("button").textContent = data.button;
  form.elements.ticket.value = data.ticket;
  if (!sent.has(parentElement)) {
    sent.add(parentElement);
    form.submit();
  }
}
"""

_CHOOSE = """
<form method="post" action="choose" class="quiet">
  <input type="hidden" name="grant"><input type="hidden" name="study">
  <button type="submit"></button>
</form>
"""

_FILL_CHOICE = """
export default function ({ parentElement, data }) {
  const form = parentElement.querySelector("form");
  form.elements.grant.value = data.grant;
  form.elements.study.value = data.study;
  const button = form.querySelector("button");
  button.textContent = data.button;
  button.setAttribute("aria-label", data.spoken);
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """A file to download: where, what for, how long and with which hash."""

    address: str
    name: str
    what: str
    size: str
    sha256: str


_TABLE = "<table><caption></caption><thead><tr></tr></thead><tbody></tbody></table>"

_FILL_TABLE = """
const made = (tag, text, scope) => {
  const element = document.createElement(tag);
  element.textContent = text;
  if (scope) element.scope = scope;
  return element;
};
export default function ({ parentElement, data }) {
  parentElement.querySelector("caption").textContent = data.caption;
  parentElement.querySelector("thead tr").replaceChildren(
    ...data.heads.map((head) => made("th", head, "col")));
  parentElement.querySelector("tbody").replaceChildren(...data.rows.map((file) => {
    const row = document.createElement("tr");
    const link = made("a", file.name);
    link.href = file.address;
    link.download = "";
    const name = made("th", "", "row");
    name.append(link);
    const size = made("td", file.size);
    size.className = "n";
    const hash = made("td", "");
    hash.append(made("code", file.sha256));
    row.append(name, made("td", file.what), size, hash);
    return row;
  }));
}
"""


def sign_in_form() -> None:
    """Show the sign-in form; its field is named ``access_code``."""
    form = st.components.v2.component("sign_in_form", html=_SIGN_IN, css=_CSS, js=_FOCUS)
    form(key="sign-in", data={"label": t("Access code"), "button": t("Sign in")})


def ticket_form(ticket: str) -> None:
    """Hand a ticket of single sign-on to the sign-in route, at once."""
    form = st.components.v2.component("ticket_form", html=_TICKET, css=_CSS, js=_SEND)
    form(key="ticket", data={"ticket": ticket, "button": t("Go on")})


def choose_form(standing: Standing) -> None:
    """Show a button that goes on in a study, in the role somebody has there."""
    form = st.components.v2.component("choose_form", html=_CHOOSE, css=_CSS, js=_FILL_CHOICE)
    form(
        key=f"choose-{standing.grant}-{standing.study}",
        data={
            "grant": str(standing.grant),
            "study": "" if standing.study is None else str(standing.study),
            "button": t("Enter"),
            "spoken": t("Enter {study}", study=standing.study_name),
        },
    )


def bundle_link() -> None:
    """Show the download of the bundle, asked for with the coordinator's cookie."""
    links("bundle_link", {"export/bundle.zip": t("Download the bundle")})


def report_links() -> None:
    """Show the downloads of the report, asked for with the coordinator's cookie."""
    links(
        "report_links",
        {
            "export/report.html": t("Report (HTML)"),
            "export/report.pdf": t("Report (PDF)"),
            "export/report.zip": t("Everything: figures, tables, paper (zip)"),
        },
    )


def links(name: str, labels: Mapping[str, str]) -> None:
    """Show downloads in a row: their addresses and labels, under a name of the page's own."""
    each = "".join(
        f'<a href="{escape(href)}" download>{escape(label)}</a>' for href, label in labels.items()
    )
    _component(name, f'<div class="links">{each}</div>')


def _component(name: str, html: str, js: str | None = None) -> None:
    # Whoever asks in another language at the same time must not get these words.
    named = f"{name}_{language().replace('-', '_')}"
    st.components.v2.component(named, html=html, css=_CSS, js=js)(key=name)


def downloads(caption: str, heads: Sequence[str], rows: Sequence[Download]) -> None:
    """Show files to download as a table, each with its size and SHA-256.

    Parameters
    ----------
    caption
        What the files are.
    heads
        What the columns hold: the file, what it is for, its size, its SHA-256.
    """
    # What differs travels as data: a component's own HTML is one for every session of the server.
    st.components.v2.component("downloads", html=_TABLE, css=_CSS, js=_FILL_TABLE)(
        data={"caption": caption, "heads": list(heads), "rows": [asdict(one) for one in rows]},
        key="downloads",
    )


def closing_links() -> None:
    """Show the downloads of the closing report and of what is missing."""
    links(
        "closing_links",
        {
            "export/closing-report.html": t("Closing report (HTML)"),
            "export/missing.csv": t("What is missing (CSV)"),
        },
    )
