"""Links as buttons: to other pages of ours, and to downloads, which need the cookie."""

from html import escape
from zlib import crc32

import streamlit as st

_CSS = """
.links { display: flex; flex-wrap: wrap; gap: .6rem; padding: 3px; margin-inline-start: -3px; }
a { font: 500 1rem/1.4 var(--st-font); padding: .45rem .9rem; border-radius: .5rem;
  color: var(--st-text-color); text-decoration: none;
  border: 1px solid var(--rr-edge, var(--st-border-color)); }
a:hover { border-color: var(--st-primary-color); }
a:focus-visible { outline: 3px solid var(--st-primary-color); outline-offset: 2px; }
"""


def links(name: str, labels: dict[str, str], *, download: bool = False) -> None:
    """Show links side by side, by address; `name` is the element's key."""
    kind = " download" if download else ""
    made = "".join(
        f'<a href="{escape(href)}"{kind}>{escape(label)}</a>' for href, label in labels.items()
    )
    html = f'<div class="links">{made}</div>'
    # A component's name stands for its HTML, in every session at once.
    mark = f"{crc32(html.encode()):08x}"
    st.components.v2.component(f"links_{name}_{mark}", html=html, css=_CSS)(key=name)
