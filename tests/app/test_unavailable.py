"""Every page while the store cannot be reached: a sentence, and a button that runs the page."""

import threading
from collections.abc import Callable
from typing import NoReturn

import pytest
from streamlit.testing.v1 import AppTest

from study.base.errors import Busy
from study.people.roles import Role
from study.people.signing_in import Person
from study.store import Store
from tests.conftest import ROOT, person
from tests.e2e.prepared import pages_for
from ui.app.menu import every_page
from ui.parts.text import plain

WHY = "The database cannot be reached. Try again in a moment."
_NEEDS_NO_STORE = {"sign_in.py", "preview.py", "preview_draft.py", "review.py", "teach.py"}


@pytest.fixture
def deployed(opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return the store of an open study, set in the environment."""
    store = opened()
    monkeypatch.setenv("READING_ROOM_DB", str(store.path))
    return store


def _out_of_reach(_: Store, __: object) -> NoReturn:
    raise Busy(WHY)


def _people(store: Store) -> dict[str, Person]:
    """Return a person who may see each page, by the page's file."""
    reader = person(store)
    staff = Person(
        role=Role.ADMINISTRATOR,
        deployment=Role.ADMINISTRATOR,
        study=reader.study,
        study_name="trial",
        name="a",
    )
    files = {entry.file for entry in pages_for(Role.ADMINISTRATOR)}
    return {entry.file: staff if entry.file in files else reader for entry in every_page()}


def _page(file: str) -> None:
    import runpy

    from ui.parts.unavailable import stop_on_error

    with stop_on_error():
        runpy.run_path(file)


@pytest.mark.parametrize("file", [e.file for e in every_page() if e.file not in _NEEDS_NO_STORE])
def test_a_page_reports_that_the_store_cannot_be_reached_and_tries_again(
    deployed: Store, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    """The store fails after the check of the sign-in, and answers when it is tried again."""
    person = _people(deployed)[file]
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": person)
    with monkeypatch.context() as patch:
        patch.setattr(Store, "_database", _out_of_reach)
        app = AppTest.from_function(
            _page, default_timeout=60, args=(str(ROOT / "pages" / file),)
        ).run()
        assert not app.exception
        assert [error.value for error in app.error] == [plain(WHY)]
    retried = app.button(key="try-again").click().run()
    assert not retried.exception
    assert not [error for error in retried.error if error.value == plain(WHY)]


def test_the_router_repeats_a_failed_check_of_the_sign_in(
    deployed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else is on the page."""

    def refuse(cookies: object, place: str = "") -> NoReturn:
        raise Busy(WHY)

    with monkeypatch.context() as patch:
        patch.setattr("ui.server.access.signed_in", refuse)
        app = AppTest.from_file(str(ROOT / "ui" / "app" / "router.py"), default_timeout=60).run()
        assert [error.value for error in app.error] == [plain(WHY)]
        assert not app.title
    assert app.button(key="try-again").click().run().title[0].value == "Reading Room"


def test_a_page_can_be_tried_again_after_the_disk_hung(
    deployed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check of the sign-in does not end; the page does not wait for it."""
    works = threading.Event()

    def hang(cookies: object, place: str = "") -> None:
        works.wait()

    monkeypatch.setattr("ui.server.access.signed_in", hang)
    with monkeypatch.context() as patch:
        patch.setattr("ui.server.deployment.MAX_DURATION_S", 0.05)
        app = AppTest.from_file(str(ROOT / "ui" / "app" / "router.py"), default_timeout=60).run()
        assert [error.value for error in app.error] == [plain(WHY)]
    works.set()
    assert app.button(key="try-again").click().run().title[0].value == "Reading Room"
