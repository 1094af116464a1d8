"""Routes of previews and films of the score card: permissions and contents."""

import gzip
import io
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from PIL import Image
from starlette.applications import Starlette
from starlette.testclient import TestClient

from study.lifecycle import previews, studies
from study.lifecycle.deployments import coordinator_code
from study.people import signing_in
from study.protocol.protocol import Protocol
from study.reading import desk
from study.store import Store
from tests.conftest import ACTING, NOW, SECRETS, entropy_from, invite, person, presentation, reading
from tests.film_decoder import unpacked
from tests.unit.study.reading.test_score_card import close
from ui.app.middleware import HEADERS
from ui.app.routes import routes
from ui.server.access import COOKIE

MADE_UP = "This is not the real answer: cases from this bank are being read in an open study."

Sign = Callable[[str | None], TestClient]


@pytest.fixture
def sign(banked: Store, monkeypatch: pytest.MonkeyPatch) -> Sign:
    """Return a function to sign in R1, R2, the coordinators c and d, or nobody.

    The study shows a score once it is closed; d coordinates another study, with feedback after each
    case.
    """
    monkeypatch.setenv("READING_ROOM_DB", str(banked.path))
    for study, feedback in (("trial", "after study"), ("other", "after case")):
        values: dict[str, Any] = {"cases": 4, "one_question_per": "item", "feedback": feedback}
        protocol = Protocol.from_json({**values, "practice_cases": 1})
        studies.draw(banked, bank="bank", study=study, protocol=protocol, acting=ACTING)
    codes = {
        code: issued.text
        for code, issued in zip(("R1", "R2"), invite(banked, "R1", "R2"), strict=True)
    }
    studies.open_study(banked, study="trial", acting=ACTING)
    for name, study in {"c": "trial", "d": "other"}.items():
        codes[name] = coordinator_code(
            banked, study=study, name=name, entropy=entropy_from(ord(name)), now=NOW
        )
    application = Starlette(routes=routes(), middleware=[HEADERS])

    def client(reader_id: str | None) -> TestClient:
        made = TestClient(application, follow_redirects=False)
        if reader_id:
            made.post("/sign-in", data={"access_code": codes[reader_id]})
        return made

    return client


def _opened(client: TestClient, store: Store) -> str:
    """Open a preview as its page does and return the address of its routes."""
    now = datetime.now(UTC)
    person = signing_in.signed_in_person(store, client.cookies[COOKIE], now=now)
    assert person is not None
    return f"/preview/{previews.preview(store, person, entropy=secrets.token_bytes, now=now).mark}"


def test_only_the_person_who_opened_a_preview_can_reach_it(sign: Sign, banked: Store) -> None:
    """All routes refuse other people, and the same person in another browser."""
    mine = sign("c")
    base = _opened(mine, banked)
    first_desk = mine.get(f"{base}/desk").json()
    film = f"/{first_desk['cases'][0]['views'][0]['url']}"
    assert film.startswith(base)
    sent = {"seal": first_desk["seal"], "records": []}
    for name, status in {None: 401, "R1": 403, "d": 403, "c": 403}.items():
        client = sign(name)
        for path in (f"{base}/desk", f"{base}/desk/cases/1", film):
            assert client.get(path).status_code == status, (name, path)
        for path in (f"{base}/desk/records", f"{base}/again"):
            assert client.post(path, json=sent).status_code == status, (name, path)
    assert mine.get(f"{base}/desk").status_code == 200
    answer = mine.get(film)
    assert answer.status_code == 200
    assert unpacked(gzip.compress(answer.content)).size


def test_the_data_of_a_preview_have_the_structure_of_reader_data(sign: Sign, banked: Store) -> None:
    """All keys are equal at every level, so the page works in the same way."""
    client, mine = sign("R1"), sign("c")
    base = _opened(mine, banked)
    own, shown = client.get("/desk").json(), mine.get(f"{base}/desk").json()
    assert _shape(shown) == _shape(own)
    assert shown["seal"] != own["seal"]
    assert (own["reader"], shown["reader"]) == ("R1", "preview")
    case = shown["cases"][0]["case"]
    records = [presentation(case), reading(case)]
    receipt = mine.post(
        f"{base}/desk/records", json={"seal": shown["seal"], "records": records}
    ).json()
    assert sorted(receipt["stored"]) == sorted(record["id"] for record in records)
    assert receipt["feedback"][f"read-{case}"]["explanation"] == MADE_UP


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shape(part) for key, part in value.items()}
    return [_shape(part) for part in value[:1]] if isinstance(value, list) else type(value)


def test_a_preview_gives_feedback_as_the_protocol_specifies(sign: Sign, banked: Store) -> None:
    """A preview gives feedback after each case, but not after the study."""
    for name, tells in {"c": False, "d": True}.items():
        client = sign(name)
        base = _opened(client, banked)
        while cases := (first_desk := client.get(f"{base}/desk").json())["cases"]:
            case = cases[0]
            message = {"seal": first_desk["seal"], "records": [reading(case["case"])]}
            answer = client.post(f"{base}/desk/records", json=message)
            assert answer.json()["refused"] == []
            has_feedback = case["practice"] or tells
            assert bool(answer.json()["feedback"]) == has_feedback
            assert (MADE_UP in answer.text) == has_feedback  # an open study uses this bank
        for secret in (*SECRETS, "n_correct"):
            assert secret not in client.get(f"{base}/desk").text


def test_a_restarted_preview_accepts_no_messages_of_the_previous_preview(
    sign: Sign, banked: Store
) -> None:
    """The previous address is not found until the page opens the preview again."""
    client = sign("c")
    base = _opened(client, banked)
    seal = client.get(f"{base}/desk").json()["seal"]
    assert client.post(f"{base}/again").status_code == 204
    assert client.get(f"{base}/desk").status_code == 404
    assert _opened(client, banked) == base
    stale = {"seal": seal, "records": []}
    assert client.post(f"{base}/desk/records", json=stale).status_code == 409


def test_a_preview_refuses_foreign_and_invalid_messages(sign: Sign, banked: Store) -> None:
    """Foreign origins, large or malformed messages and invalid numbers are refused."""
    client = sign("c")
    base = _opened(client, banked)
    foreign = {"origin": "https://elsewhere.example"}
    for path in ("desk/records", "again"):
        assert client.post(f"{base}/{path}", content=b"{}", headers=foreign).status_code == 403
        assert client.post(f"{base}/{path}", content=b"x" * 3_000_000).status_code == 413
    for rubbish in (b"", b"[]", b'{"seal": 1}', b"[" * 100_000):
        assert client.post(f"{base}/desk/records", content=rubbish).status_code == 400
    for path in ("films/x/1", "films/x/-1", f"films/x/{'9' * 5000}", "films/1"):
        assert client.get(f"{base}/{path}").status_code == 404
    assert client.get(f"{base}/desk/cases/1").status_code == 403
    assert client.get("/preview/..%2fstore/desk").status_code == 404


def _read_all(store: Store) -> None:
    who = person(store)
    while cases := desk.desk(store, who, now=NOW).cases:
        assert desk.take_records(store, who, [reading(cases[0].case)], now=NOW).refused == ()


def test_the_films_of_a_score_card_are_for_its_reader(sign: Sign, banked: Store) -> None:
    """They are complete images, available after closing to readers who read the case."""
    _read_all(banked)
    film = "/score-card/1/films/0"
    for name, status in {None: 401, "c": 401, "R1": 409, "R2": 409}.items():
        assert sign(name).get(film).status_code == status
    close(banked)
    for name, status in {None: 401, "c": 401, "d": 401, "R2": 404, "R1": 200}.items():
        assert sign(name).get(film).status_code == status
    answer = sign("R1").get(film)
    shown = np.asarray(Image.open(io.BytesIO(answer.content)))
    assert (answer.headers["content-type"], shown.min(), shown.max()) == ("image/png", 0, 255)
    assert "private" in answer.headers["cache-control"]
    for path in ("9/films/0", "1/films/9", f"{'9' * 5000}/films/0", "x/films/0"):
        assert sign("R1").get(f"/score-card/{path}").status_code == 404


def test_without_feedback_no_films_of_a_closed_study_are_served(
    opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The route checks the protocol independently of the page."""
    store = opened()
    monkeypatch.setenv("READING_ROOM_DB", str(store.path))
    _read_all(store)
    close(store)
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": person(store))
    client = TestClient(Starlette(routes=routes()))
    assert client.get("/score-card/1/films/0").status_code == 403
