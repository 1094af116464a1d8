"""The section of the page Administration that removes closed studies, in the test runner."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from study.base.actor import COMMAND_LINE, Acting
from study.exchange import bundle, removing
from study.lifecycle import studies
from study.people.roles import Role
from study.people.signing_in import Person
from study.store import Store
from study.store.studies import listed
from study.trail.trails import record_export
from tests.conftest import ACTING, ROOT
from tests.page_runs import button

Opened = Callable[..., Store]
ADMINISTRATION = ROOT / "pages" / "deployment.py"


@pytest.fixture
def administered(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return an open study on a server whose administrator is signed in."""
    store = opened(readers=("R1",))
    monkeypatch.setenv("READING_ROOM_DB", str(store.path))
    who = Person(role=Role.ADMINISTRATOR, name="a", deployment=Role.ADMINISTRATOR)
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": who)
    return store


def _run() -> AppTest:
    return AppTest.from_file(str(ADMINISTRATION), default_timeout=60).run()


def _names(store: Store) -> list[str]:
    with store.look() as look:
        return [row.name for row in listed(look)]


def test_an_open_study_is_not_offered(administered: Store) -> None:
    """The section states that there is nothing to remove."""
    app = _run()
    assert not app.exception
    assert "data-to-remove" not in {box.key for box in app.selectbox}
    assert any("There is no closed study" in text.value for text in app.markdown)


def test_a_closed_study_is_removed_after_export_and_confirmation(
    administered: Store, tmp_path: Path
) -> None:
    """A wrong name or a missing bundle removes nothing; then the page shows the certificate."""
    studies.close(administered, study="trial", reason="Reading is over", acting=ACTING)

    def press(typed: str) -> AppTest:
        app = _run()
        app.text_input(key="removal-reason").input("Retention is over")
        app.text_input(key="removal-name").input(typed)
        return button(app, "remove-data").click().run()

    assert "was written after it was closed" in press("trial").error[0].value
    bundle.export(administered, study="trial", out=tmp_path / "bundle")
    now = datetime.now(UTC)
    record_export(
        administered, study="trial", file="bundle", acting=Acting(by=COMMAND_LINE, now=now)
    )
    assert len(press("another").error) == 1
    assert _names(administered) == ["trial"]
    app = press("trial")
    assert not app.error
    assert not app.exception
    assert _names(administered) == []
    (certificate,) = removing.certificates(administered)
    assert certificate.text in [code.value for code in app.code]
    assert "There is no closed study" in " ".join(text.value for text in app.markdown)
