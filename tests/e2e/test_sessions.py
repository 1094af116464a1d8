"""Sessions, pauses and lapsed deadlines on the reading page."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page

from study.base.actor import Acting, By
from study.base.canonical import moment
from study.monitoring import interventions
from study.reading import desk
from study.store import events
from study.store.events import EventKind
from study.trail.verification import verify
from tests.conftest import NOW, person, presentation, reading
from tests.e2e.conftest import Reader
from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
Serve = Callable[..., Server]

DAY_S = 86_400
COORDINATOR = By(name="c", role="coordinator")


def _curtain(page: Page) -> str:
    return page.locator(".rr-curtain").inner_text()


def _wait_for_hold(reader: Reader, reason: str) -> None:
    reader.page.wait_for_selector(f"[data-state='paused'][data-halt='{reason}']")


def _continue(reader: Reader, halt: str) -> None:
    """Press the button of a curtain. Enter is ignored for the time of a double press."""
    reader.page.wait_for_selector(f"[data-halt='{halt}']")
    reader.page.locator(".rr-curtain button").click()


def _read(reader: Reader, positions: range) -> None:
    for position in positions:
        reader.wait("ready", position)
        reader.answer("a")


def _post(page: Page, kind: str, case: str) -> dict[str, object]:
    """Send a record of a case that the page did not receive."""
    sent: dict[str, object] = page.evaluate(
        """async ([kind, id]) => {
          const desk = await (await fetch('desk')).json();
          const now = Date.now();
          const about = kind === 'reading'
            ? {option: 'A', status: 'answered', presented_epoch_ms: now - 5000, times: {},
               committed_epoch_ms: now}
            : {shown_epoch_ms: now - 5000, circumstances: {}};
          const records = [{kind, id: `forged-${kind}`, case: id, ...about}];
          const body = JSON.stringify({seal: desk.seal, sent_epoch_ms: now, records});
          return (await fetch('desk/records', {method: 'POST', body})).json();
        }""",
        [kind, case],
    )
    return sent


def test_the_wash_out_cannot_be_shortened(serve: Serve, reader: Reader) -> None:
    """Neither a reload nor forged records open the next session, whose date is shown."""
    wash_out = timedelta(seconds=8)
    server = serve(
        cases=3,
        sessions=2,
        conditions=["unaided", "image-absent"],
        hidden_repeats=1,
        practice_cases=1,
        back_navigation=True,
        washout_days=wash_out.total_seconds() / DAY_S,
    )
    page = reader.page
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 0)
    assert page.locator(".rr-session").inner_text() == ""
    reader.answer("a")
    page.wait_for_selector("[data-feedback='true']")
    page.keyboard.press("Enter")
    _continue(reader, "begin")
    reader.wait("ready", 1)
    assert page.locator(".rr-position").inner_text() == "Case 1 of 4"
    assert page.locator(".rr-session").inner_text() == "Session 1 of 2"
    _read(reader, range(1, 5))

    _wait_for_hold(reader, "washing out")
    assert "Session 1 of 2 is complete" in _curtain(page)
    assert "Session 2 opens on" in _curtain(page)
    assert str(datetime.now().year) in _curtain(page)
    assert reader.brightness() < 0.02
    for kind in ("presentation", "reading"):
        response = _post(page, kind, _assignments(server)[4])
        assert response["refused"] == [
            {"id": f"forged-{kind}", "why": "This session is not open yet."}
        ]
        assert response["desk"]["cases"] == []  # type: ignore[index]
    page.reload()
    _wait_for_hold(reader, "washing out")

    page.wait_for_selector("[data-halt='begin']")
    assert "Session 2 of 2" in _curtain(page)
    assert "without images" in _curtain(page)
    assert len(server.readings()) == 4, "nothing is shown before the reader continues"
    _continue(reader, "begin")
    reader.wait("ready", 1)
    assert page.locator(".rr-session").inner_text() == "Session 2 of 2"
    page.keyboard.press("Backspace")
    reader.answer("b")
    reader.wait("ready", 2)
    page.keyboard.press("Backspace")
    reader.wait("ready", 1)
    assert page.locator("[data-option=B]").get_attribute("aria-pressed") == "true"
    page.keyboard.press("Enter")
    _read(reader, range(2, 5))
    page.wait_for_selector("[data-step='review']")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    reader.wait("finished")
    _assert_wash_out(server, wash_out)


def _assignments(server: Server) -> list[str]:
    with server.store.look() as look:
        rows = look.rows("SELECT id FROM assignments ORDER BY reader, position")
    return [row["id"] for row in rows]


def _assert_wash_out(server: Server, wash_out: timedelta) -> None:
    with server.store.look() as look:
        rows = look.rows(
            "SELECT session, repeat, case_id, assignments.position, "
            "presentations.received_at_utc AS shown, readings.received_at_utc AS read "
            "FROM assignments JOIN presentations ON presentations.assignment = assignments.id "
            "JOIN readings ON readings.assignment = assignments.id ORDER BY assignments.position"
        )
    assert [row["position"] for row in rows] == list(range(1, 9))
    assert [row["session"] for row in rows] == [1] * 4 + [2] * 4
    for half in (rows[:4], rows[4:]):
        assert len({row["case_id"] for row in half}) == 3
        repeated = next(row for row in half if row["repeat"] == 2)
        first = next(row for row in half if row["case_id"] == repeated["case_id"])
        assert first["repeat"] == 1
    last = max(moment(row["read"]) for row in rows[:4])
    assert min(moment(row["shown"]) for row in rows[4:]) - last >= wash_out
    assert verify(server.store) == []


def _intervene(server: Server, action: str, **about: object) -> None:
    reader = None if action in ("pause", "resume") else "R1"
    getattr(interventions, action)(
        server.store,
        study="trial",
        reader_id=reader,
        reason="tested",
        acting=Acting(by=COORDINATOR, now=datetime.now(UTC)),
        **about,
    )


def test_a_lapsed_session_resumes_after_its_release_and_a_pause(
    serve: Serve, reader: Reader
) -> None:
    """After the reader has left the study, the page reports this, and no stored answer is lost."""
    server = serve(session_days=3 / DAY_S)
    page = reader.page
    reader.enter(server.url, server.codes["R1"])
    reader.wait("ready", 1)
    reader.wait_saved()
    while page.evaluate("async () => (await (await fetch('desk')).json()).hold") != "lapsed":
        page.wait_for_timeout(100)
    reader.answer("c")
    _wait_for_hold(reader, "lapsed")
    assert "Ask your coordinator" in _curtain(page)
    assert [("received_after_lapse" in row["flags"]) for row in server.readings()] == [True]
    _intervene(server, "release", session=1)
    page.reload()
    reader.wait("ready", 2)
    _finish_the_open_case_in_a_pause(server, reader)
    reader.answer("a")
    reader.wait("ready", 4)
    reader.wait_saved()
    rows = server.readings()
    assert [("paused" in row["flags"]) for row in rows] == [False, True, False]
    _intervene(server, "withdraw")
    reader.answer("a")
    page.wait_for_selector(".rr-sheet:not([hidden])")
    assert "You have left this study" in page.locator(".rr-sheet").inner_text()
    assert len(server.readings()) == 3
    page.locator(".rr-sheet button").click()
    page.wait_for_selector("input[name='access_code']")
    assert verify(server.store) == []


def _finish_the_open_case_in_a_pause(server: Server, reader: Reader) -> None:
    """Answer case 2; it is stored with a flag. The page states the reason and resumes by itself."""
    reader.wait_saved()
    reader.page.wait_for_load_state("networkidle")
    _intervene(server, "pause")
    reader.answer("b")
    _wait_for_hold(reader, "paused")
    assert "Reading is paused" in _curtain(reader.page)
    reader.wait_saved()
    rows = server.readings()
    assert [(row["position"], row["answer"]) for row in rows] == [(1, "C"), (2, "B")]
    assert "received_while_paused" in rows[1]["flags"]
    with server.store.look() as look:
        assert look.value("SELECT count(*) FROM presentations") == 2
    for key in ("Enter", "p", "Escape"):
        reader.page.keyboard.press(key)
        _wait_for_hold(reader, "paused")
    _intervene(server, "resume")
    _continue(reader, "again")
    reader.wait("ready", 3)


def test_feedback_on_a_session_is_shown_until_the_next_session(
    serve: Serve, reader: Reader
) -> None:
    """It is shown in the wash-out, after a reload, and before the next session."""
    server = serve(
        cases=20,
        sessions=2,
        session_feedback=True,
        washout_days=timedelta(seconds=8) / timedelta(1),
    )
    me = person(server.store)
    for _ in range(19):
        case = desk.desk(server.store, me, now=NOW).cases[0].case
        desk.take_records(server.store, me, [presentation(case), reading(case)], now=NOW)
    page = reader.page
    reader.enter(server.url, server.codes["R1"])
    _continue(reader, "begin")
    reader.wait("ready", 20)
    assert "In session" not in page.locator(".rr-curtain").inner_text()
    reader.answer("a")
    _wait_for_hold(reader, "washing out")
    shown = re.search(r"In session 1 your answers were correct in about \d0 %", _curtain(page))
    assert shown
    page.reload()
    _wait_for_hold(reader, "washing out")
    assert shown[0] in _curtain(page)
    page.wait_for_selector("[data-halt='begin']")
    assert shown[0] in _curtain(page)
    _continue(reader, "begin")
    reader.wait("ready", 1)
    page.reload()
    reader.wait("ready", 1)
    with server.store.look() as look:
        kind = (EventKind.SESSION_FEEDBACK_SHOWN,)
        assert len(events.of_kinds(look, events.study_chain("trial"), kind)) == 1
