"""Downloads of a study by role and state: blinded while it is open, complete when closed."""

import csv
import hashlib
import io
import zipfile
from collections.abc import Callable

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from study.base.errors import NotFound
from study.exchange import archives
from study.lifecycle import studies
from study.people.codes import issue_code, new_code
from study.people.roles import Role
from study.people.signing_in import Person
from study.reading.simulation import simulate
from study.store import Store, events, people
from study.store.studies import study_row
from tests.conftest import ACTING, NOW, entropy_from, person, tamper
from ui.app.middleware import HEADERS
from ui.app.routes import routes
from ui.archive import exports as archive

Client = Callable[[str | None], TestClient]


@pytest.fixture
def trial(opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return an open study in which one of two readers has read all cases."""
    store = opened()
    monkeypatch.setenv("READING_ROOM_DB", str(store.path))
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    return store


@pytest.fixture
def client(trial: Store) -> Client:
    """Return a function that signs in a coordinator, a statistician, a reader or nobody."""
    codes = {}
    for number, role in enumerate(("coordinator", "statistician")):
        code = new_code(entropy_from(50 + number))
        with trial.change() as change:
            study = study_row(change, "trial").id
            account = people.add(change, handle=role, made_at_utc="x")
            people.grant(change, person=account, role=Role(role), study=study, given_at_utc="x")
            issue_code(change, code, person=account, now=NOW)
        codes[role] = code.text
    code = new_code(entropy_from(60))
    with trial.change() as change:
        reader = person(trial).reader
        assert reader is not None
        account = people.person_of_reader(change, reader) or 0
        issue_code(change, code, person=account, now=NOW)
    codes["reader"] = code.text
    application = Starlette(routes=routes(), middleware=[HEADERS])

    def sign_in(reader_id: str | None) -> TestClient:
        client_made = TestClient(application, follow_redirects=False)
        if reader_id:
            client_made.post("/sign-in", data={"access_code": codes[reader_id]})
        return client_made

    return sign_in


def _statistician(store: Store) -> Person:
    study = person(store).study
    return Person(role=Role.STATISTICIAN, study=study, study_name="trial", name="statistician")


def _truths(content: bytes) -> set[str]:
    with zipfile.ZipFile(io.BytesIO(content)) as files:
        rows = csv.DictReader(io.StringIO(files.read("items.csv").decode()))
        return {row["truth"] for row in rows}


def _downloads(store: Store) -> list[dict[str, str]]:
    with store.look() as look:
        trail = [
            event for event in events.walk(look, events.DEPLOYMENT) if event.kind == "downloaded"
        ]
    return [
        {event.detail["what"]: event.detail["sha256"]}
        for event in trail
        if "sha256" in event.detail
    ]


PATHS = (
    "bundle.zip",
    "closing-report.html",
    "missing.csv",
    "archive/bundle.zip",
    "archive/SHA256SUMS",
)


@pytest.mark.parametrize("path", PATHS)
def test_coordinators_and_statisticians_can_download(
    client: Client, trial: Store, path: str
) -> None:
    """A statistician gets no names. Readers and signed-out visitors get nothing."""
    archive.make_archive_files(_statistician(trial))
    expected = {None: 401, "reader": 401, "statistician": 200, "coordinator": 200}
    for name, status in expected.items():
        assert client(name).get(f"/export/{path}").status_code == status, name


def test_the_deposit_requires_the_right_to_export_before_the_first_reading(
    client: Client, trial: Store
) -> None:
    """It is refused with readings, and without an author."""
    path = "/export/deposit.zip?author=Curie%2C+Marie"
    statuses = {
        person: client(person).get(path).status_code for person in (None, "reader", "coordinator")
    }
    assert statuses == {None: 401, "reader": 401, "coordinator": 409}
    tamper(trial, "DELETE FROM readings")
    response = client("coordinator").get(path)
    with zipfile.ZipFile(io.BytesIO(response.content)) as files:
        assert b"Curie, Marie" in files.read("zenodo.json")
    assert client("coordinator").get("/export/deposit.zip").status_code == 409


def test_the_bundle_is_blinded_until_the_study_is_closed(client: Client, trial: Store) -> None:
    """Every role gets the blinded bundle, and every download is in the trail with its hash."""
    for name in ("coordinator", "statistician"):
        content = client(name).get("/export/bundle.zip").content
        assert _truths(content) == {""}
        assert _downloads(trial)[-1] == {"bundle.zip": hashlib.sha256(content).hexdigest()}
        assert client(name).get("/export/report.html").status_code == 409
        assert client(name).get("/export/report.zip").status_code == 409
    studies.close(trial, study="trial", reason="done", acting=ACTING)
    assert "" not in _truths(client("statistician").get("/export/bundle.zip").content)


def test_downloaded_files_match_their_hashes(client: Client, trial: Store) -> None:
    """Other files in the folder are not served."""
    studies.close(trial, study="trial", reason="done", acting=ACTING)
    statistician = client("statistician")
    assert statistician.get("/export/archive/study.db").status_code == 409
    archive.make_archive_files(_statistician(trial))
    files_made = archive.archive_files(_statistician(trial))
    assert files_made is not None
    assert set(files_made.sha256) == set(archives.FILES)
    for name, digest in files_made.sha256.items():
        answer = statistician.get(f"/export/archive/{name}")
        assert hashlib.sha256(answer.content).hexdigest() == digest
        assert answer.headers["cache-control"] == "no-store"
        assert _downloads(trial)[-1] == {name: digest}
    for name in ("made.json", "nothing", "..%2f..%2fstore.db", "%2e%2e"):
        assert statistician.get(f"/export/archive/{name}").status_code in (404, 409)


def test_complete_files_are_withheld_where_accuracy_is_hidden(trial: Store) -> None:
    """Existing complete files are not served while their study hides accuracy."""
    person = _statistician(trial)
    archive.make_archive_files(person)
    place = archive._archive_folder(trial, person) / "made.json"
    place.write_text(place.read_text().replace('"blinded": true', '"blinded": false'))
    assert archive.archive_files(person) is None
    with pytest.raises(NotFound):
        archive.downloadable_file(person, "bundle.zip")


def test_new_files_replace_the_previous_files(trial: Store) -> None:
    """One set of files is stored per study, and other studies cannot list it."""
    person = _statistician(trial)
    archive.make_archive_files(person)
    archive.make_archive_files(person)
    studies.close(trial, study="trial", reason="done", acting=ACTING)
    archive.make_archive_files(person)
    files_made = archive.archive_files(person)
    assert files_made is not None
    assert not files_made.blinded
    home = archive._archive_folder(trial, person).parent
    assert [path.name for path in home.iterdir()] == [str(person.study)]
    assert home.stat().st_mode & 0o077 == 0
