"""Forms used on several pages: access code, choice of a study, file upload, required field.

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
from ui.parts.theme import page_file, style

_CSS = page_file(__file__, "forms.css")

_SIGN_IN_HTML = page_file(__file__, "sign-in.html")

# A link contains its code after the # sign, which browsers do not send to the server.
_SIGN_IN_JS = page_file(__file__, "sign-in.js")

_SECOND_FACTOR_HTML = page_file(__file__, "second-factor.html")

_SECOND_FACTOR_JS = page_file(__file__, "second-factor.js")

_TICKET_HTML = page_file(__file__, "ticket.html")

_TICKET_JS = page_file(__file__, "ticket.js")

_CHOOSE_HTML = page_file(__file__, "choose.html")

_CHOOSE_JS = page_file(__file__, "choose.js")

TABLE_TYPES = ("csv", "tsv", "xlsx", "xlsm")
"""File extensions of tables that can be uploaded."""

MAX_UPLOAD_MB = 500
"""Maximum upload size: `maxUploadSize` in .streamlit/config.toml."""

# Streamlit labels its uploader in English only, so the styles show translated labels instead. The
# button keeps Streamlit's text, hidden, because screen readers ignore text in styles.
_UPLOAD_CSS = page_file(__file__, "upload.css")


def sign_in_form() -> None:
    """Show the sign-in form; its field is named ``access_code``."""
    form = st.components.v2.component("sign_in_form", html=_SIGN_IN_HTML, css=_CSS, js=_SIGN_IN_JS)
    form(key="sign-in", data={"label": t("Access code"), "button": t("Sign in")})


def second_factor_form() -> None:
    """Show the form for the second factor; its field is named ``second_code``."""
    form = st.components.v2.component(
        "second_factor_form", html=_SECOND_FACTOR_HTML, css=_CSS, js=_SECOND_FACTOR_JS
    )
    form(
        key="second-factor",
        data={"label": t("Code of your authenticator app"), "button": t("Sign in")},
    )


def ticket_form(ticket: str) -> None:
    """Send a single sign-on ticket to the sign-in route."""
    form = st.components.v2.component("ticket_form", html=_TICKET_HTML, css=_CSS, js=_TICKET_JS)
    form(key="ticket", data={"ticket": ticket, "button": t("Continue")})


def choose_form(membership: Membership, *, by_name: bool = False) -> None:
    """Show a button, or the study's name as a link, to enter a study in a role."""
    kind = "named" if by_name else "quiet"
    html = _CHOOSE_HTML.replace("quiet", kind)
    form = st.components.v2.component(f"choose_form_{kind}", html=html, css=_CSS, js=_CHOOSE_JS)
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


def upload(label: str, *, types: Sequence[str], key: str, max_mb: int = MAX_UPLOAD_MB) -> Any:
    """Show a field for a file of permitted types and size; return None until one is uploaded."""
    words = json.dumps(t("Choose a file"), ensure_ascii=False)
    st.html(style(f":root {{ --rr-choose-file: {words}; }}\n{_UPLOAD_CSS}"))
    kinds = ", ".join(ending.upper() for ending in types)
    full_label = t("{what} ({kinds}, at most {n} MB)", what=label, kinds=kinds, n=max_mb)
    file = st.file_uploader(full_label, type=list(types), key=key, max_upload_size=max_mb)
    if file is not None and file.size > max_mb << 20:  # the browser's own check can be bypassed
        st.error(plain(t("{name} is larger than {n} MB.", name=file.name, n=max_mb)))
        return None
    return file


def required(label: str, value: str) -> str:
    """Return the content of a field without surrounding spaces; refuse an empty field."""
    if not value.strip():
        raise BadInput(t("“{field}” is empty. Fill it in.", field=label))
    return value.strip()
