"""Plain HTML in Streamlit: forms that set or clear the cookie, downloads that need it."""

import streamlit as st

_CSS = """
form { display: grid; gap: .75rem; font-family: var(--st-font); color: var(--st-text-color); }
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
.links { display: flex; flex-wrap: wrap; gap: .6rem; }
button { font: 600 1rem/1.4 var(--st-font); padding: .7rem .8rem; border: 0; border-radius: .5rem;
  color: var(--rr-on-accent); background: var(--st-primary-color); cursor: pointer; }
.quiet button { justify-self: start; padding: .4rem .8rem; color: inherit; background: none;
  border: 1px solid var(--rr-edge); font-weight: 500; }
"""

_SIGN_IN = """
<form method="post" action="sign-in">
  <label for="access_code">Access code</label>
  <input id="access_code" name="access_code" required autofocus autocomplete="off"
    autocapitalize="characters" spellcheck="false" placeholder="XXXX-XXXX-XXXX-XXXX"
    maxlength="60">
  <button type="submit">Sign in</button>
</form>
"""

_SIGN_OUT = """
<form method="post" action="sign-out" class="quiet"><button type="submit">Sign out</button></form>
"""

_FOCUS = """
const seen = new WeakSet();
export default function ({ parentElement }) {
  if (!seen.has(parentElement)) {
    seen.add(parentElement);
    parentElement.querySelector("input").focus();
  }
}
"""


def sign_in_form() -> None:
    """Show the sign-in form; its field is named ``access_code``."""
    st.components.v2.component("sign_in_form", html=_SIGN_IN, css=_CSS, js=_FOCUS)(key="sign-in")


def sign_out_form() -> None:
    """Show a sign-out button."""
    st.components.v2.component("sign_out_form", html=_SIGN_OUT, css=_CSS)(key="sign-out")


def bundle_link() -> None:
    """Show the download of the bundle, asked for with the coordinator's cookie."""
    _links("bundle_link", {"export/bundle.zip": "Download the bundle"})


def report_links() -> None:
    """Show the downloads of the report, asked for with the coordinator's cookie."""
    _links(
        "report_links",
        {
            "export/report.html": "Report (HTML)",
            "export/report.pdf": "Report (PDF)",
            "export/report.zip": "Everything: figures, tables, paper (zip)",
        },
    )


def _links(name: str, labels: dict[str, str]) -> None:
    links = "".join(f'<a href="{href}" download>{label}</a>' for href, label in labels.items())
    html = f'<div class="links">{links}</div>'
    st.components.v2.component(name, html=html, css=_CSS)(key=name)
