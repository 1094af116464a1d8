"""Uploaded tables: lists of readers and of item IDs, in every format, read in a worker."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from study.base.actor import Acting, By
from study.lifecycle import deployments, drafts
from study.lifecycle.deployments import administrator_code
from study.people import signing_in
from study.people.roles import Role
from study.people.signing_in import Person
from study.store import Store, people, studies
from tests.conftest import NOW, entropy_from
from tests.page_runs import open_page
from tests.unit.study.tables.workbooks import write_workbook
from ui.parts.forms import TABLE_TYPES
from ui.server import file_jobs

Opened = Callable[..., Store]
BY = By(name="ada", role="coordinator")
ACTING = Acting(by=BY, now=NOW)
IDS = (("No.", "Item ID"), ("1", "q0003"), ("2", "q0002"))
READERS = (("reader_id", "level"), ("R8", "resident"), ("R9", "attending"))


@pytest.fixture
def server(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return the store of a server with an open study."""
    store = opened(readers=("R1",))
    monkeypatch.setenv("READING_ROOM_DB", str(store.path))
    return store


@pytest.fixture(autouse=True)
def _reading_needs_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make reading fail in the server's process."""

    def refuse(path: Path) -> list[str]:
        raise AssertionError(f"{path} was read by the server process")

    monkeypatch.setattr(file_jobs, "ids_in_file", refuse)
    monkeypatch.setattr(file_jobs, "read_invitations", refuse)


def _table(folder: Path, ending: str, rows: Sequence[Sequence[str]]) -> tuple[str, bytes]:
    path = folder / f"list.{ending}"
    if ending.startswith("xls"):
        write_workbook(path, *rows)
    else:
        separator = "\t" if ending == "tsv" else ","
        path.write_text("".join(f"{separator.join(row)}\n" for row in rows), "utf-8")
    return path.name, path.read_bytes()


def _page(name: str, person: Person, monkeypatch: pytest.MonkeyPatch, **query: str) -> AppTest:
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": person)
    return open_page(name, **query)


def _upload(page: AppTest, label: str, file: tuple[str, bytes]) -> None:
    field = next(field for field in page.file_uploader if label in field.label)
    field.upload(*file)


def _press(page: AppTest, label: str) -> None:
    next(button for button in page.button if button.label == label).click().run()
    assert not page.exception


def _administrator(store: Store) -> Person:
    code = administrator_code(store, name="admin", entropy=entropy_from(5), now=NOW)
    return signing_in.sign_in(store, code, entropy=entropy_from(6), now=NOW).person


def _maker(store: Store) -> Person:
    with store.change() as change:
        number = deployments.holder(change, "ada", Role.COORDINATOR, None, NOW)
        trial = studies.study_row(change, "trial").id
    return Person(
        role=Role.COORDINATOR,
        study=trial,
        study_name="trial",
        name="ada",
        id=number,
        deployment=Role.COORDINATOR,
    )


@pytest.mark.parametrize("ending", TABLE_TYPES)
def test_all_readers_of_a_file_are_invited(
    server: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: str
) -> None:
    """Each reader gets a code."""
    page = _page("people.py", _maker(server), monkeypatch)
    _upload(page, "choose a file", _table(tmp_path, ending, READERS))
    _press(page, "Invite all")
    assert page.success[0].value == "2 readers were invited\\."
    with server.look() as look:
        invited = people.readers(look, studies.study_row(look, "trial").id)
    assert {reader.reader_id for reader in invited} == {"R1", "R8", "R9"}


@pytest.mark.parametrize("ending", TABLE_TYPES)
def test_an_empty_upload_is_reported_as_empty(
    server: Store, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """The error does not refer to a missing header or column."""
    page = _page("people.py", _maker(server), monkeypatch)
    _upload(page, "choose a file", (f"list.{ending}", b""))
    _press(page, "Invite all")
    assert [message.value for message in page.error] == [
        f"list\\.{ending} is empty\\. Choose another file\\."
    ]


@pytest.mark.parametrize("ending", TABLE_TYPES)
def test_a_list_of_ids_limits_the_draw(
    server: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: str
) -> None:
    """The IDs appear in the field, with their number below it."""
    draft = drafts.begin(server, name="second", maker=1, bank="bank", acting=ACTING)
    page = _page("new_study.py", _maker(server), monkeypatch, draft=str(draft), step="sample")
    _upload(page, "Or upload the list", _table(tmp_path, ending, IDS))
    page.run()
    assert not page.exception
    assert drafts.find(server, draft).values["only_items"] == ["q0002", "q0003"]
    assert any("2 IDs read from list" in message.value for message in page.success)


@pytest.mark.parametrize("ending", TABLE_TYPES)
def test_a_review_can_use_the_ids_of_a_file(
    banked: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: str
) -> None:
    """They replace the random sample."""
    monkeypatch.setenv("READING_ROOM_DB", str(banked.path))
    page = _page("bank_review.py", _administrator(banked), monkeypatch, bank="1")
    for handle in ("vera", "otto"):
        next(field for field in page.text_input if field.label == "Short name").set_value(handle)
        _press(page, "Assign role")
    next(field for field in page.text_input if field.label == "Name of the review").set_value("R")
    reviewers = next(field for field in page.multiselect if field.label == "Reviewers")
    reviewers.set_value(reviewers.options)
    _upload(page, "a file with these IDs", _table(tmp_path, ending, IDS))
    _press(page, "Start the review")
    assert [message.value for message in page.error] == []
    assert any("R has started\\: 2 questions" in message.value for message in page.success)


def test_a_workbook_without_ids_is_refused_and_changes_nothing(
    server: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The message names the file and its columns; the field for the file is empty again."""
    draft = drafts.begin(server, name="second", maker=1, bank="bank", acting=ACTING)
    page = _page("new_study.py", _maker(server), monkeypatch, draft=str(draft), step="sample")
    _upload(page, "Or upload the list", _table(tmp_path, "xlsx", (("No", "Text"), ("1", "q1"))))
    page.run()
    assert any("has no column item" in message.value for message in page.error)
    assert drafts.find(server, draft).values.get("only_items", []) == []
    assert all(field.value is None for field in page.file_uploader)


def test_ids_in_the_field_together_with_a_file_are_refused(
    server: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Otherwise one of them would silently be ignored."""
    page = _page("bank_review.py", _administrator(server), monkeypatch, bank="1")
    next(field for field in page.text_input if field.label == "Name of the review").set_value("R")
    next(field for field in page.text_area).set_value("q0001")
    _upload(page, "a file with these IDs", _table(tmp_path, "csv", IDS))
    _press(page, "Start the review")
    assert any("remove the file" in message.value for message in page.error)
