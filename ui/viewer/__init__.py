"""The reading component: mounts the JavaScript of this folder as one Streamlit component.

Its modules are served once for each language; the translations replace ``page/catalogue.js``.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import streamlit as st
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope
from streamlit.components.v2.types import ComponentRenderer

from study.base.translation import (
    ENGLISH,
    catalogue_messages,
    in_language,
    is_right_to_left,
    language,
    languages,
    t,
)
from ui.catalogue import messages

FOLDER: Final = Path(__file__).parent
MODULES: Final = FOLDER / "js"
"""The folder of ES modules, to be served under the ``modules_url`` given to :func:`mount`."""
CATALOGUE: Final = "page/catalogue.js"
STYLES: Final = ("viewer.css", "overlays.css", "contrast.css")


def mount(
    *,
    desk_url: str,
    modules_url: str,
    sign_out_url: str,
    variant: Mapping[str, str] | None = None,
) -> None:
    """Show the reading room over the whole page.

    The arguments must not change between runs: the component is mounted once, and a rerun or a
    change of theme does not affect its case and its clock.

    Parameters
    ----------
    desk_url : str
        Address of the reading routes, relative to the page's base address.
    modules_url : str
        Address of :data:`MODULES`: :func:`modules_url`.
    sign_out_url : str
        Address to which the sign-out form is posted.
    variant : mapping of str to str, optional
        For a page that does not belong to a study: ``of`` is its kind (``preview``, ``teaching``
        ...), ``leave_url`` the address of the page to return to; a post to a preview's
        ``again_url`` discards it, and ``arm`` is the arm of its reader. The page states its kind,
        and stores its data separately from those of readers.
    """
    _component()(
        key="reading-room",
        data={
            "desk_url": desk_url,
            "modules_url": modules_url,
            "sign_out_url": sign_out_url,
            "here_url": "here",
            "trouble": t("The reading page could not be loaded. Trying again…"),
            "language": language(),
            "apart": dict(variant) if variant else None,
        },
    )


@cache
def version() -> str:
    """Return a hash of the modules and translations, for an address that changes with them."""
    digest = hashlib.sha256()
    for path in sorted(MODULES.rglob("*.js")):
        name = path.relative_to(MODULES).as_posix()
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    for other in _translated_languages():
        digest.update(catalogue(MODULES, other).encode() + b"\0")
    return digest.hexdigest()[:16]


def modules_url() -> str:
    """Return the address of the modules with the translations of the current language."""
    spoken = language()
    return f"viewer/{version()}/" + (f"{spoken}/" if spoken != ENGLISH else "")


def mounts() -> list[Mount]:
    """Return the routes of the modules, once for each language with a catalogue."""
    return [
        *(
            Mount(f"/viewer/{version()}/{other}", app=Modules(MODULES, other))
            for other in _translated_languages()
        ),
        Mount(f"/viewer/{version()}", app=Modules(MODULES, ENGLISH)),
    ]


class Modules(StaticFiles):
    """The viewer's modules, including the catalogue of one language."""

    def __init__(self, folder: Path, language: str) -> None:
        super().__init__(directory=folder)
        self._catalogue = catalogue(folder, language)

    async def get_response(self, path: str, scope: Scope) -> Response:
        if path == CATALOGUE:
            return Response(self._catalogue, media_type="text/javascript")
        return await super().get_response(path, scope)


def catalogue(folder: Path, language: str) -> str:
    """Return the module ``page/catalogue.js`` of a language."""
    words, rule = catalogue_messages(language, used_messages(folder))
    content = json.dumps(words, ensure_ascii=False, sort_keys=True)
    with in_language(language):
        rtl = json.dumps(is_right_to_left())
    return (
        f"export const words = {content};\nexport const language = {json.dumps(language)};\n"
        f"export const rtl = {rtl};\nexport const form = (n) => Number({rule});\n"
    )


@cache
def used_messages(folder: Path) -> frozenset[str]:
    """Return the messages of a folder's modules, which are read only once."""
    extracted = (message for path in folder.rglob("*.js") for message in messages(path))
    return frozenset(message if isinstance(message, str) else message[0] for message in extracted)


def _translated_languages() -> list[str]:
    return [language for language in languages() if language != ENGLISH]


@cache
def _component() -> ComponentRenderer:
    # Registered once per process; Streamlit itself registers it again for another runtime, as in
    # AppTest. The styles are not isolated, so that no shadow root hides the state of the page.
    return st.components.v2.component(
        "reading_room",
        html=(FOLDER / "viewer.html").read_text(encoding="utf-8"),
        css="".join((FOLDER / name).read_text(encoding="utf-8") for name in STYLES),
        js=(FOLDER / "bootstrap.js").read_text(encoding="utf-8"),
        isolate_styles=False,
    )
