"""A store knows its version: an older one is brought up to date once, others are refused."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from study.base.errors import BrokenStore
from study.lifecycle.deployments import init
from study.store import (
    Store,
    bank_contents,
    banks,
    judgements,
    models,
    people,
    readings,
    schema,
    shape,
)
from study.trail.verification import verify
from tests.conftest import NOW, entropy_from


def _as_version(path: Path, number: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {number}")


def _names_rooms(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE rooms (id INTEGER PRIMARY KEY) STRICT")


def test_of_many_that_open_an_older_store_at_once_one_migrates_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others wait and find it done; it is a new store in every respect."""
    monkeypatch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, _names_rooms])
    with ThreadPoolExecutor(6) as pool:
        opened = [pool.submit(Store, store.path) for _ in range(12)]
    for one in opened:
        assert verify(one.result()) == []


def test_a_migration_that_fails_leaves_the_store_as_it_was(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of what a store lacks is done to it, or nothing."""
    with monkeypatch.context() as newer:
        newer.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, _names_rooms, _names_rooms])
        with pytest.raises(sqlite3.OperationalError, match="already exists"):
            Store(store.path)
    assert verify(Store(store.path)) == []


def test_a_store_of_the_first_version_is_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was in it stays, sealed as before; it is a new store in every respect."""
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        path = init(tmp_path / "store.db", entropy=entropy_from(1), now=NOW).path
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO banks VALUES (1, 'old', 'csv', 's', 'h', 'c', '/', 0, '')")
        connection.execute(
            "INSERT INTO items VALUES (1, 1, 'q1', 'Well?', '[1, 2]', '', '', '', 'e', '', '', '')"
        )
        connection.commit()
    store = Store(path)
    with store.look() as look:
        assert banks.find(look, "old") is not None
        assert list(shape.breaches(look)) == []
    with pytest.raises(sqlite3.IntegrityError, match="written once"), store.change() as change:
        change.execute("DELETE FROM items")
    with store.change() as change:
        banks.remove(change, 1)
    with store.look() as look:
        assert look.value("SELECT count(*) FROM items") == 0


def test_what_models_said_before_they_had_runs_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their hash covers no more than it did, and they are sealed as before."""
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:4])
        path = init(tmp_path / "store.db", entropy=entropy_from(1), now=NOW).path
    with closing(sqlite3.connect(path)) as connection:
        for statement in (
            "INSERT INTO banks VALUES (1, 'b', 'csv', 's', 'h', 'c', '/', 0, '', '', '', '', '')",
            "INSERT INTO items VALUES (1, 1, 'q', '?', '[1, 2]', '', '', '', 'e', '', '', '')",
            "INSERT INTO studies VALUES (1, 's', 1, 'drawn', '{}', '', '', NULL, NULL, NULL, '')",
            "INSERT INTO cases VALUES (1, 1, 1, 1, '')",
            "INSERT INTO models VALUES (1, 1, 'M', '', 0, 'f', 'h', '', 1)",
            "INSERT INTO predictions VALUES (1, 1, 'A', 'answered', 'a.')",
        ):
            connection.execute(statement)
        connection.commit()
    store = Store(path)
    with store.look() as look:
        (said,) = models.predictions(look, 1)
        assert list(shape.breaches(look)) == []
    plain = {"item_id": "q", "answer": "A", "status": "answered", "raw_answer": "a."}
    assert said.told() == plain
    with pytest.raises(sqlite3.IntegrityError, match="written once"), store.change() as change:
        change.execute("UPDATE predictions SET answer = 'B'")


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        (0, r"^store\.db was made before the first release, .* \(python -m study restore\)\.$"),
        (999, r"^store\.db was made by a newer Reading Room .*\. Use that one\.$"),
    ],
)
def test_a_store_that_cannot_be_opened_is_named_with_a_remedy(
    store: Store, version: int, reason: str
) -> None:
    """The program keeps its hands off a store of a time before or after its own."""
    _as_version(store.path, version)
    with pytest.raises(BrokenStore, match=reason):
        Store(store.path)


def test_items_and_films_from_before_banks_were_joined_are_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No item has another bank's name, and a film lies where it lay."""
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:8])
        path = init(tmp_path / "store.db", entropy=entropy_from(1), now=NOW).path
    with closing(sqlite3.connect(path)) as connection:
        for statement in (
            "INSERT INTO banks VALUES (1, 'b', 'csv', 's', 'h', 'c', '/f', 0, '', '', '', '', '')",
            "INSERT INTO items VALUES (1, 1, 'q', '?', '[1, 2]', '', '', '', 'e', '', '', '')",
            "INSERT INTO films VALUES (1, 1, 'a.png', 'h', 2, 2, 8, 0, 1, 9, NULL)",
            "INSERT INTO item_views VALUES (1, 1, 1, 'PA', '')",
        ):
            connection.execute(statement)
        connection.commit()
    with Store(path).look() as look:
        (item,) = banks.whole_items(look, 1)
        (film,) = bank_contents.films_of(look, 1, 1)
        assert (item.origin, film.file) == ("", Path("/f/a.png"))
        assert list(shape.breaches(look)) == []


def test_roles_from_before_there_were_reviewers_stay_and_reviewers_may_be_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check of the roles is another one; what refers to a role still does."""
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:9])
        path = init(tmp_path / "store.db", entropy=entropy_from(1), now=NOW).path
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO people VALUES (1, 'ada', '', NULL)")
        given = "INSERT INTO grants VALUES (?, 1, ?, NULL, NULL, '', NULL)"
        connection.execute(given, (1, "coordinator"))
        with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
            connection.execute(given, (2, "reviewer"))
        connection.commit()
    store = Store(path)
    with store.change() as change:
        people.grant(change, person=1, role="reviewer", study=None, given_at_utc="")
        assert [row.role for row in people.grants_of_deployment(change)] == [
            "coordinator",
            "reviewer",
        ]
        assert list(shape.breaches(change)) == []
        assert list(shape.damage(change)) == []


def test_banks_from_before_there_were_prior_films_have_none_and_their_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a bank's content hashes to does not change with the store; a prior film is kept once."""
    with monkeypatch.context() as older:
        older.setattr(
            schema, "MIGRATIONS", schema.MIGRATIONS[: schema.MIGRATIONS.index(schema._priors)]
        )
        path = init(tmp_path / "store.db", entropy=entropy_from(1), now=NOW).path
    with closing(sqlite3.connect(path)) as connection:
        for statement in (
            "INSERT INTO banks VALUES (1, 'b', 'csv', 's', 'h', 'c', '/f', 0, '', '', '', '', '')",
            "INSERT INTO items VALUES (1, 1, 'q', '?', '[1, 2]', '', '', '', 'e', '', '', '', '')",
            "INSERT INTO films VALUES (1, 1, 'a.png', 'h', 2, 2, 8, 0, 1, 9, NULL, '')",
            "INSERT INTO item_views VALUES (1, 1, 1, 'PA', '')",
        ):
            connection.execute(statement)
        connection.commit()
    store = Store(path)
    with store.look() as look:
        # As the release before said it.
        sha256 = "1f4c235fb616f40ad679e01125850d9ec13c9bc50e1373cc9802c425b6fb841d"
        assert banks.content_sha256(look, 1, simulated=False) == sha256
        assert [one.priors for one in banks.whole_items(look, 1)] == [()]
        assert list(shape.breaches(look)) == []
    with store.change() as change:
        change.insert("item_priors", item=1, position=1, film=1, label="PA", days=91)
    with store.look() as look:
        assert [(row.position, row.prior) for row in readings.views(look, 1, prior=True)] == [
            (1, 0),
            (2, 1),
        ]
    with pytest.raises(sqlite3.IntegrityError, match="written once"), store.change() as change:
        change.execute("UPDATE item_priors SET days = 3")


def test_a_store_from_before_answers_in_words_were_scored_takes_scorings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is scored is written once, and a score is one of three."""
    with monkeypatch.context() as older:
        before = schema.MIGRATIONS.index(schema._scorings)
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:before])
        path = init(tmp_path / "store.db", entropy=entropy_from(1), now=NOW).path
    with closing(sqlite3.connect(path)) as connection:
        for statement in (
            "INSERT INTO banks VALUES (1, 'b', 'csv', 's', 'h', 'c', '/', 0, '', '', '', '', '')",
            "INSERT INTO studies VALUES (1, 's', 1, 'closed', '{}', '', '', '', '', NULL, '')",
            "INSERT INTO people VALUES (1, 'ada', '', NULL)",
        ):
            connection.execute(statement)
        connection.commit()
    store = Store(path)
    score = {"position": 0, "scorer": 0, "turn": 1, "comment": "", "at_utc": ""}
    with store.change() as change:
        number = judgements.add_scoring(change, study=1, kind="answer", seed=1, at_utc="")
        judgements.add_scorers(change, number, [1])
        judgements.add_score(change, number, score="correct", **score)
        assert [one.verdict for one in judgements.scores(change, number)] == ["correct"]
        assert list(shape.breaches(change)) == []
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"), store.change() as change:
        judgements.add_score(change, number, score="right", **score)
    with pytest.raises(sqlite3.IntegrityError, match="written once"), store.change() as change:
        change.execute("UPDATE scores SET score = 'incorrect'")
