"""The trail and the deployment page: permissions, search, backups and merged sites."""

from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from study.exchange import backups
from study.lifecycle import studies
from study.lifecycle.deployments import administrator_code, coordinator_code
from study.people.roles import Role
from study.people.signing_in import Person
from study.protocol.protocol import Protocol
from study.store import Store, events, people
from study.store.events import EventKind
from tests.conftest import ACTING, NOW, entropy_from, invite, tamper
from tests.page_runs import button, open_page
from tests.sites import close_trial, create_site, export_bundle
from ui.app.middleware import HEADERS
from ui.app.routes import routes
from ui.parts.event_kinds import LABELS, SENTENCES, event_words

Sign = Callable[[str | None], TestClient]


@pytest.fixture
def sign(banked: Store, monkeypatch: pytest.MonkeyPatch) -> Sign:
    """Return a function that signs in R1, the coordinators of two studies, or the administrator."""
    monkeypatch.setenv("READING_ROOM_DB", str(banked.path))
    protocol = Protocol.from_json({"cases": 8, "one_question_per": "item"})
    for study in ("trial", "second"):
        studies.draw(banked, bank="bank", study=study, protocol=protocol, acting=ACTING)
    codes: dict[str, str] = {"R1": invite(banked, "R1")[0].text}
    studies.open_study(banked, study="trial", acting=ACTING)
    for seed, study in enumerate(("trial", "second"), start=3):
        codes[study] = coordinator_code(
            banked, study=study, name="c", entropy=entropy_from(seed), now=NOW
        )
    codes["administrator"] = administrator_code(banked, name="a", entropy=entropy_from(9), now=NOW)
    application = Starlette(routes=routes(), middleware=[HEADERS])

    def client(reader_id: str | None) -> TestClient:
        made = TestClient(application, follow_redirects=False)
        if reader_id:
            assert made.post("/sign-in", data={"access_code": codes[reader_id]}).status_code == 303
        return made

    return client


def test_coordinators_and_administrators_can_download_their_trail(
    sign: Sign, banked: Store
) -> None:
    """Coordinators get the trail of their study, the administrator that of the deployment."""
    of_study = {None: 401, "R1": 401, "trial": 200, "second": 200, "administrator": 401}
    for person, status in of_study.items():
        assert sign(person).get("/export/trail.csv").status_code == status
    of_all = {None: 401, "R1": 401, "trial": 401, "second": 401, "administrator": 200}
    for person, status in of_all.items():
        assert sign(person).get("/export/deployment-trail.csv").status_code == status
    own = sign("second").get("/export/trail.csv").text
    assert "study:second" in own
    assert "study:trial" not in own
    with banked.look() as look:
        kinds = [event.kind for event in events.walk(look, events.DEPLOYMENT)]
        assert set(people.places(look).values()) == {"testclient"}
    assert kinds.count("downloaded") == 4


def test_a_download_contains_the_events_of_the_search(sign: Sign) -> None:
    """An invalid search is refused in one sentence."""
    client = sign("trial")
    download = client.get(
        "/export/trail.csv", params={"kind": "study opened", "since": "2025-06-04"}
    )
    assert len(download.text.splitlines()) == 2
    assert download.headers["cache-control"] == "no-store"
    for wrong in ("x", "2025-99-99", "0000-01-01"):
        assert client.get("/export/trail.csv", params={"since": wrong}).status_code == 400


def test_signing_out_and_downloads_are_in_the_trail(sign: Sign, banked: Store) -> None:
    """Both events have the same pseudonym of the address."""
    client = sign("trial")
    assert client.get("/export/bundle.zip").status_code == 200
    client.post("/sign-out")
    with banked.look() as look:
        taken = list(events.walk(look, events.DEPLOYMENT))[-1]
        left = list(events.walk(look, "study:trial"))[-1]
    assert (taken.kind, left.kind) == ("downloaded", "signed out")
    assert len(taken.detail["sha256"]) == 64
    assert taken.detail["place"] == left.detail["place"] != ""


def _page(
    monkeypatch: pytest.MonkeyPatch, store: Store, name: str, person: Person | None
) -> AppTest:
    monkeypatch.setenv("READING_ROOM_DB", str(store.path))
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": person)
    return open_page(name)


def _administrator() -> Person:
    return Person(name="a", deployment=Role.ADMINISTRATOR)


def _coordinator(role: Role = Role.COORDINATOR) -> Person:
    return Person(role=role, study=1, study_name="trial", name="c")


@pytest.mark.parametrize("name", ["trail.py", "deployment.py"])
def test_trail_and_deployment_pages_refuse_other_people(
    name: str, opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signed-out visitors, statisticians, and the role of the other page are refused."""
    store = opened()
    other = _administrator() if name == "trail.py" else _coordinator()
    for person in (None, _coordinator(Role.STATISTICIAN), other):
        result = _page(monkeypatch, store, name, person)
        assert not result.exception
        assert len(result.error) == 1
        assert not result.title
        assert not result.button


def test_the_trail_page_names_the_first_invalid_event(
    opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chain is valid until the file is altered."""
    store = opened()
    result = _page(monkeypatch, store, "trail.py", _coordinator())
    assert not result.exception
    button(result, "verify-trial").click().run()
    assert "Verified\\: 6 events" in result.success[0].value
    tamper(store, "UPDATE events SET actor = 'x' WHERE chain = 'study:trial' AND number = 3")
    button(result, "verify-trial").click().run()
    assert "event 3 \\(reader invited, 2025" in result.error[0].value


def test_the_trail_page_searches(
    opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It searches by text and kind and shows the number of events."""
    result = _page(monkeypatch, opened(), "trail.py", _coordinator())
    result.text_input(key="trail-text-trial").set_value("R2").run()
    shown = list(result.dataframe[0].value["Event"])
    assert shown == [
        "R2 was assigned 8 cases",
        "coordinator opened the study",
        "coordinator invited reader R2",
    ]
    result.selectbox(key="trail-kind-trial").set_value("study opened").run()
    assert result.markdown[0].value == "1 event found."


def test_the_deployment_page_makes_scheduled_backups(
    opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reports missing backups, verified backups and problems."""
    store = opened()
    result = _page(monkeypatch, store, "deployment.py", _administrator())
    assert not result.exception
    assert result.warning[0].value == "There is no backup yet."
    button(result, "backup-now").click().run()
    assert any("Backup made; verification passed" in element.value for element in result.success)
    assert not result.warning
    result.number_input(key="backup-hours").set_value(6)
    button(result, "backup-save").click().run()
    with store.look() as look:
        assert backups.current_schedule(look).every_hours == 6
    tamper(store, "UPDATE reference_standard SET truth = 'A'")
    button(result, "backup-now").click().run()
    assert any("bank bank" in element.value for element in result.error)


_MERGE_PAGE = """
from study.people.signing_in import Person
from study.people.roles import Role
from ui.archive import exports

exports.merge_section(
    Person(role=Role.COORDINATOR, study=1, study_name="trial", name="c")
)
"""


def test_bundles_are_restored_and_merged_from_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page reports the result, or lists the objections."""
    home, other = (
        create_site(tmp_path / "a", 1),
        create_site(tmp_path / "b", 2, person_id="P2", simulated="S2"),
    )
    for store in (home, other):
        close_trial(store)
    monkeypatch.setenv("READING_ROOM_DB", str(home.path))
    bundle = ("b.zip", export_bundle(other).read_bytes())
    script = tmp_path / "merge_page.py"
    script.write_text(_MERGE_PAGE)
    result = AppTest.from_file(str(script), default_timeout=60).run()
    result.text_input(key="merge-site").set_value("Bergen")
    result.file_uploader[0].upload(*bundle)
    button(result, "merge").click().run()
    assert not result.exception
    assert "P2, S2 from Bergen" in result.success[0].value
    result.file_uploader[0].upload(*bundle)
    button(result, "merge").click().run()
    assert "was already merged" in result.code[0].value
    page = _page(monkeypatch, home, "deployment.py", _administrator())
    page.file_uploader[0].upload(*bundle)
    button(page, "restore").click().run()
    assert any("already exists" in error.value for error in page.error)


def test_every_kind_of_event_has_its_own_label() -> None:
    """No kind is shown by its stored name."""
    assert set(LABELS) == set(EventKind)
    assert len(set(LABELS.values())) == len(EventKind)


def test_every_kind_of_event_has_its_own_sentence() -> None:
    """Events without details, as from a merged site of another version, also have a sentence."""
    assert set(SENTENCES) == set(EventKind)
    assert len({event_words(kind, "R1", {}) for kind in EventKind}) == len(EventKind)
    excluded = event_words(
        "reading excluded", "c", {"reader_id": "R1", "position": 3, "sha256": "f"}
    )
    assert excluded == "c excluded R1’s reading of case 3"
    assert event_words("preparation done", "R1", {"step": "display"}).endswith(": display check")
