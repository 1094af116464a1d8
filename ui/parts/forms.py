"""What pages ask for: an access code, a study to enter, a file, a field that must not be empty.

Forms that sign in and choose a study are plain HTML, because they set or need the cookie.
"""

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st

from study.base.errors import BadInput
from study.base.translation import t
from study.people.signing_in import Membership
from ui.parts.text import plain

_CSS = """
form { display: grid; gap: .75rem; max-width: 34rem; color: var(--st-text-color);
  font-family: var(--st-font); }
label { font-size: .95rem; }
input { direction: ltr; font: 600 1.15rem/1.4 ui-monospace, monospace; letter-spacing: .08em;
  padding: .7rem .8rem; border: 1px solid var(--rr-edge); border-radius: .5rem; color: inherit;
  background: var(--st-secondary-background-color); text-transform: uppercase; }
input::placeholder { color: var(--rr-quiet); opacity: 1; }
input:focus-visible, button:focus-visible {
  outline: 3px solid var(--st-primary-color); outline-offset: 2px; }
button { font: 600 1rem/1.4 var(--st-font); padding: .7rem .8rem; border: 0; border-radius: .5rem;
  color: var(--rr-on-accent); background: var(--st-primary-color); cursor: pointer; }
.named button { justify-self: start; padding: 0; color: var(--st-link-color); background: none;
  font-weight: 600; text-align: start; text-decoration: underline; }
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

_FILL = """
export default function ({ parentElement, data }) {
  const form = parentElement.querySelector("form");
  form.elements.grant.value = data.grant;
  form.elements.study.value = data.study;
  const button = form.querySelector("button");
  button.textContent = data.button;
  button.setAttribute("aria-label", data.spoken);
}
"""

TABLE_TYPES = ("csv", "tsv", "xlsx", "xlsm")
"""The endings of the tables that can be uploaded."""

MOST_MB = 500
"""What the server takes at most: `maxUploadSize` in .streamlit/config.toml."""

# Streamlit's own words on its uploader are English in every language: ours are shown instead. Its
# button keeps its word unseen, for a name made by a style is none to a screen reader.
_OURS = """<style>
[data-testid="stFileUploaderDropzoneInstructions"] { display: none; }
[data-testid="stFileUploaderDropzone"] button:has([data-testid="stIconMaterial"])
  [data-testid="stMarkdownContainer"] {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%%); }
[data-testid="stFileUploaderDropzone"] button:has([data-testid="stMarkdownContainer"])::after {
  content: %s; margin-inline-start: .5rem; }
</style>"""


def sign_in_form() -> None:
    """Show the sign-in form; its field is named ``access_code``."""
    form = st.components.v2.component("sign_in_form", html=_SIGN_IN, css=_CSS, js=_FOCUS)
    form(key="sign-in", data={"label": t("Access code"), "button": t("Sign in")})


def ticket_form(ticket: str) -> None:
    """Hand a ticket of single sign-on to the sign-in route, at once."""
    form = st.components.v2.component("ticket_form", html=_TICKET, css=_CSS, js=_SEND)
    form(key="ticket", data={"ticket": ticket, "button": t("Continue")})


def choose_form(membership: Membership, *, by_name: bool = False) -> None:
    """Show a button, or the study's name as a link, that enters a study in a role."""
    kind = "named" if by_name else "quiet"
    html = _CHOOSE.replace("quiet", kind)
    form = st.components.v2.component(f"choose_form_{kind}", html=html, css=_CSS, js=_FILL)
    form(
        key=f"choose-{kind}-{membership.grant}-{membership.study}",
        data={
            "grant": str(membership.grant),
            "study": "" if membership.study is None else str(membership.study),
            "button": membership.study_name if by_name else t("Enter"),
            "spoken": membership.study_name
            if by_name
            else t("Enter {study}", study=membership.study_name),
        },
    )


def upload(label: str, *, types: Sequence[str], key: str, most_mb: int = MOST_MB) -> Any:
    """Ask for a file, saying which kinds are taken and how large it may be; None until given."""
    st.html(_OURS % json.dumps(t("Choose a file"), ensure_ascii=False))
    kinds = ", ".join(ending.upper() for ending in types)
    full_label = t("{what} ({kinds}, at most {n} MB)", what=label, kinds=kinds, n=most_mb)
    file = st.file_uploader(full_label, type=list(types), key=key, max_upload_size=most_mb)
    if file is not None and file.size > most_mb << 20:  # the browser's own check can be bypassed
        st.error(plain(t("{name} is larger than {n} MB.", name=file.name, n=most_mb)))
        return None
    return file


def required(label: str, value: str) -> str:
    """Return what a field holds without spaces around it, or refuse by its label if it is empty."""
    if not value.strip():
        raise BadInput(t("“{field}” is empty. Fill it in.", field=label))
    return value.strip()
