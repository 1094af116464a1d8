"""Links to pages and downloads, shown as buttons, and a table of files with their hashes.

The links lead to this program's routes, which check the cookie, unlike Streamlit's downloads.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from zlib import crc32

import streamlit as st

from study.base.translation import ENGLISH, language, t
from ui.parts.theme import page_file

_CSS = page_file(__file__, "links.css")

_TABLE_CSS = page_file(__file__, "downloads.css")

_TABLE_HTML = "<table><caption></caption><thead><tr></tr></thead><tbody></tbody></table>"
_TABLE_JS = page_file(__file__, "downloads.js")


def links(name: str, labels: dict[str, str], *, download: bool = False) -> None:
    """Show links side by side, by address; `name` is the element's key."""
    attribute = " download" if download else ""
    anchors = "".join(
        f'<a href="{escape(href)}"{attribute}>{escape(label)}</a>' for href, label in labels.items()
    )
    html = f'<div class="links">{anchors}</div>'
    # A component's name identifies its HTML in all sessions.
    content_id = f"{crc32(html.encode()):08x}"
    st.components.v2.component(f"links_{name}_{content_id}", html=html, css=_CSS)(key=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """A file to download: address, purpose, size and hash."""

    address: str
    name: str
    what: str
    size: str
    sha256: str


def bundle_link() -> None:
    """Show the download of the bundle."""
    links("bundle", {"export/bundle.zip": t("Download the bundle")}, download=True)


def report_links() -> None:
    """Show the downloads of the report, in the current language and in English."""
    spoken = language()
    query = "" if spoken == ENGLISH else f"?language={spoken}"
    downloads = {
        f"export/report.html{query}": t("Report (HTML)"),
        f"export/report.pdf{query}": t("Report (PDF)"),
        f"export/report.zip{query}": t("Everything: figures, tables, paper (ZIP)"),
    }
    if query:
        downloads["export/report.zip"] = t("Everything in English (ZIP)")
    links("report", downloads, download=True)


def closing_links() -> None:
    """Show the downloads of the closing report and of the missing answers."""
    links(
        "closing",
        {
            "export/closing-report.html": t("Closing report (HTML)"),
            "export/missing.csv": t("Missing readings (CSV)"),
        },
        download=True,
    )


def downloads(caption: str, headings: Sequence[str], rows: Sequence[Download]) -> None:
    """Show files to download as a table, each with its size and SHA-256.

    Parameters
    ----------
    caption
        The title of the table.
    headings
        The column headings: file, purpose, size, SHA-256.
    """
    # Variable content is passed as data, because a component's HTML is shared by all sessions.
    st.components.v2.component("downloads", html=_TABLE_HTML, css=_TABLE_CSS, js=_TABLE_JS)(
        data={"caption": caption, "heads": list(headings), "rows": [asdict(row) for row in rows]},
        key="downloads",
    )


def attachment(name: str) -> dict[str, str]:
    """Return the headers of a download, which must not be cached."""
    return {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{name}"',
    }
