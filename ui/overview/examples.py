"""Example files, offered wherever a page asks for a file, and the description of bank files."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from study.base.text import guard_cell
from study.base.translation import t
from study.people.roles import Act
from study.people.signing_in import Person
from study.store import studies
from ui.parts.links import attachment
from ui.server.access import answer
from ui.server.deployment import store

_ROOT = Path(__file__).parents[2]
_N_ITEMS = 12
_MEDIA_TYPES = {".zip": "application/zip", ".txt": "text/plain", ".csv": "text/csv"}
_EXAMPLE_READERS = (
    ("reader_id", "level", "years", "site", "name", "email"),
    ("R1", "resident", "3", "Site A", "", ""),
    ("R2", "consultant", "12", "Site B", "", ""),
)


def routes() -> list[Route]:
    """Return the routes of the example files."""
    format_text = _ROOT / "docs/bank-format.md"
    return [
        _route("bank.zip", Act.MAKE_STUDY, lambda _: bank_zip(), "example-bank.zip"),
        _route("bank-format.txt", Act.MAKE_STUDY, lambda _: format_text.read_bytes()),
        _route("predictions.csv", Act.MODELS, _predictions_without_answers),
        _route("readers.csv", Act.PEOPLE, lambda _: _csv(_EXAMPLE_READERS)),
    ]


def _route(path: str, act: Act, content: Callable[[Person], bytes], name: str = "") -> Route:
    name = name or path

    def make(person: Person) -> Response:
        media_type = _MEDIA_TYPES[Path(name).suffix]
        return Response(content(person), media_type=media_type, headers=attachment(name))

    async def file(request: Request) -> Response:
        return await answer(request, act, make, t("Sign in to see this page."))

    return Route(f"/example/{path}", file, methods=["GET"])


def bank_zip() -> bytes:
    """Return a few questions of the demo bank with their images, as a zip that can be imported."""
    demo = _ROOT / "data/demo"
    items = json.loads((demo / "bank.json").read_text(encoding="utf-8"))
    first_items = dict(list(items.items())[:_N_ITEMS])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bank.json", json.dumps(first_items, indent=1, ensure_ascii=False))
        for path in sorted({path for item in first_items.values() for path in item["ImagePath"]}):
            archive.write(demo / path, path, zipfile.ZIP_STORED)
    return buffer.getvalue()


def _predictions_without_answers(person: Person) -> bytes:
    with store().look() as look:
        study = studies.study_row(look, person.study_name)
        rows = [(guard_cell(case.item_id), "") for case in studies.cases(look, study.id)]
    return _csv([("item_id", "answer"), *rows])


def _csv(rows: Sequence[Sequence[str]]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue().encode("utf-8-sig")
