"""While cases are read, pages, downloads and commands hide staff texts that may reveal answers.

This includes copies of the bank with re-encoded films under other item ids.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from study.bank.importing import import_bank
from study.bank.managing import strike
from study.base.errors import NotNow
from study.cli import main
from study.lifecycle import judging, reviewing
from study.lifecycle.judging import ItemVerdict
from study.lifecycle.studies import close
from study.people.roles import Role
from study.people.signing_in import Person
from study.store import Store, judgements
from study.store.judgements import REVIEW, JudgingRow
from study.trail import trails
from tests.conftest import ACTING, NOW, write_bank
from tests.page_runs import open_page
from tests.unit.study.lifecycle.test_reviewing import reviewers

TELLS = "the right answer is B"


def _copy(store: Store, folder: Path) -> None:
    path = write_bank(folder)
    for film in (folder / "films").iterdir():
        film.write_bytes(film.read_bytes() + b"re-encoded")
    records = json.loads(path.read_text())
    path.write_text(json.dumps({f"copy-{key}": record for key, record in records.items()}))
    import_bank(store, path, name="copy", images=folder, acting=ACTING)


@pytest.fixture(params=["bank", "copy"])
def reviewed(
    opened: Callable[..., Store],
    banked: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> tuple[Store, JudgingRow, list[Person]]:
    """Return a store with a closed review whose comments and exclusion reveal an answer."""
    if request.param == "copy":
        _copy(banked, tmp_path / "copy")
    people = reviewers(banked, 2)
    with banked.look() as look:
        items = reviewing.sample_items(look, request.param, 2, seed=1)
    judge_ids = [person.id for person in people]
    number = reviewing.open_review(
        banked, request.param, name="r", item_ids=items, reviewers=judge_ids, acting=ACTING
    )
    with banked.change() as change:
        row = judging.judging_row(change, REVIEW, number)
        for item in judgements.review_items(change, number):
            for judge_id in judge_ids:
                judging.judge(
                    change,
                    row,
                    judging.Judgement(
                        position=item.position,
                        person=judge_id,
                        verdict=ItemVerdict.WRONG_STANDARD,
                        comment=TELLS,
                    ),
                    now=NOW,
                )
    judging.close(banked, REVIEW, number, acting=ACTING)
    strike(banked, request.param, items[0], reason=TELLS, acting=ACTING)
    monkeypatch.setenv("READING_ROOM_DB", str(banked.path))
    with banked.look() as look:
        return banked, judging.judging_row(look, REVIEW, number), people


def _page(name: str, person: Person, monkeypatch: pytest.MonkeyPatch, **query: str) -> str:
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": person)
    app = open_page(name, **query)
    assert not app.exception
    frames = [frame.value.to_csv() for frame in app.dataframe]
    texts = [
        element.value for kind in ("info", "caption", "markdown") for element in getattr(app, kind)
    ]
    return "\n".join([*frames, *texts, str(app.main)])


def _visible_texts(
    store: Store, row: JudgingRow, person: Person, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """Return the text of all pages and downloads by name."""
    staff = Person(role=Role.ADMINISTRATOR, name="c", deployment=Role.ADMINISTRATOR)
    bank = str(row.bank)
    trail = trails.search(store, "", trails.Search(), page=0, size=100)
    return {
        "review": _page("bank_review.py", staff, monkeypatch, bank=bank),
        "explorer": _page("explore.py", staff, monkeypatch, bank=bank),
        "own verdicts": _page("reviews.py", person, monkeypatch),
        "trail": repr(trail.rows),
        "trail as CSV": b"".join(trails.trail_csv(store, "", trails.Search())).decode(),
    }


def _printed(
    store: Store, row: JudgingRow, capsys: pytest.CaptureFixture[str], command: str
) -> str:
    before = sys.stdout
    main(
        ["review", command, "--db", str(store.path), "--bank", row.bank_name, "--review", "r"],
    )
    if sys.stdout is not before:
        sys.stdout.close()
        sys.stdout = before
    return "".join(capsys.readouterr())


def test_texts_that_may_reveal_answers_are_hidden_while_cases_are_read(
    reviewed: tuple[Store, JudgingRow, list[Person]],
    opened: Callable[..., Store],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Before and afterwards they are shown, so the test searches the correct places."""
    store, row, people = reviewed
    for place, text in _visible_texts(store, row, people[0], monkeypatch).items():
        assert TELLS in text, place
    assert TELLS in _printed(store, row, capsys, "verdicts")
    opened(readers=("R1",))
    for place, text in _visible_texts(store, row, people[0], monkeypatch).items():
        assert TELLS not in text, place
        assert "Wrong reference standard" not in text, place
        assert "hidden while" in text
    for words in (TELLS, TELLS.upper(), f'{TELLS[4:]}"'):
        looked_for = trails.Search(text=words)
        assert trails.search(store, "", looked_for, page=0, size=9).n_found == 0, words
        assert b"".join(trails.trail_csv(store, "", looked_for)).count(b"\n") == 1
    for command in ("verdicts", "show", "strike"):
        printed = _printed(store, row, capsys, command)
        assert TELLS not in printed
        assert "wrong reference standard" not in printed
        assert "hidden while" in printed
    with store.look() as look, pytest.raises(NotNow, match="hidden while"):
        reviewing.verdict_table(look, row.id)
    with store.look() as look, pytest.raises(NotNow, match="hidden while"):
        reviewing.faulty_items(look, row.id)
    close(store, study="trial", reason="Done.", acting=ACTING)
    assert trails.search(store, "", trails.Search(text=TELLS), page=0, size=9).n_found
    for place, text in _visible_texts(store, row, people[0], monkeypatch).items():
        assert TELLS in text, place
