"""The reading page's words in another language: a module in the place of ``page/catalogue.js``."""

import json
from functools import cache
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from study.base.translation import right_to_left, spoken, table
from ui.catalogue import messages

MODULE = "page/catalogue.js"


class Modules(StaticFiles):
    """The viewer's modules, with the catalogue of one language among them."""

    def __init__(self, folder: Path, language: str) -> None:
        super().__init__(directory=folder)
        self._catalogue = catalogue(folder, language)

    async def get_response(self, path: str, scope: Scope) -> Response:
        if path == MODULE:
            return Response(self._catalogue, media_type="text/javascript")
        return await super().get_response(path, scope)


def catalogue(folder: Path, language: str) -> str:
    """Return the module ``page/catalogue.js`` of a language."""
    words, rule = table(language, wanted(folder))
    told = json.dumps(words, ensure_ascii=False, sort_keys=True)
    with spoken(language):
        rtl = json.dumps(right_to_left())
    return (
        f"export const words = {told};\nexport const language = {json.dumps(language)};\n"
        f"export const rtl = {rtl};\nexport const form = (n) => Number({rule});\n"
    )


@cache
def wanted(folder: Path) -> frozenset[str]:
    """Return the messages of a folder's modules, which are read for them once."""
    found = (message for path in folder.rglob("*.js") for message in messages(path))
    return frozenset(one if isinstance(one, str) else one[0] for one in found)
