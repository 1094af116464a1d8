"""A deployment with content on every page, used by tests and screenshots of all pages."""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from weakref import WeakKeyDictionary

from playwright.sync_api import Page
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from study import demo
from study.bank.importing import import_bank
from study.base.actor import COMMAND_LINE, Acting
from study.base.translation import translated
from study.lifecycle import drafts, judging, reviewing, studies, teaching
from study.lifecycle.deployments import holder
from study.people.codes import Entropy, new_code
from study.people.invitations import Invitation
from study.people.persons import Newcomer, grant_role
from study.people.roles import COMMON_PERMISSIONS, DEPLOYMENT_PERMISSIONS, STUDY_PERMISSIONS, Role
from study.protocol.protocol import Protocol
from study.reading.simulation import simulate
from study.store import Store, people
from study.store.studies import study_row
from tests.conftest import ROOT, write_bank
from tests.e2e.server import Server, enter, free_port
from ui.app.menu import SIGN_IN, Entry, every_page

CLOSED = "Closed study"
GRADUATE = "graduate"
"""The reader of the closed study, who has a score card."""

DRAFT = "Residents against a model"
TEACHING = "Teaching set"
REVIEW = "First look"
EXPERT = "expert"

PARTS = {
    "overview": ("Data quality", "Readings", "Intervene", "Reminders"),
    "results": ("Accuracy", "Agreement", "Models side by side", "Cases", "Tables"),
    "new-study": ("Design", "Reading rules", "Texts for readers", "Endpoint", "Review and draw"),
}
"""Parts of a page that are selected on it, in addition to the first one."""

_WITH = {
    "preview-draft": "?draft=1",
    "teach": "?bank=2&round=1",
    "explore": "?bank=1",
    "bank-review": "?bank=2",
    "review": "?review=1",
}
STUDY_BAR = ".st-key-study-bar"

_LOOK_EVERY_MS = 50
"""Interval between checks of a page. By default they occur at every frame, which is expensive."""

_RUN_S = 60
_RUNS: WeakKeyDictionary[Page, list[int]] = WeakKeyDictionary()
"""Number of runs of each page."""


def prepare(folder: Path, *, entropy: Entropy, now: datetime) -> Server:
    """Return a server that is not started, with the demo, a closed study and a draft.

    Its codes have the names of roles, and also `newcomer` and `graduate`.
    """
    store = demo.set_up(folder / "demo.db", ROOT / "data", entropy=entropy, now=now)
    codes = demo.new_codes(store, entropy=entropy, now=now)
    assert codes is not None
    graduate = _closed(store, entropy, now)
    _draft(store, now)
    _teaching(store, folder / "teaching", now)
    _review(store, entropy, now)
    return Server(
        store=Store(store.path),
        codes={
            Role.READER: codes.reader,
            "newcomer": codes.newcomer or "",
            GRADUATE: graduate,
            Role.COORDINATOR: codes.coordinator,
            Role.STATISTICIAN: statistician(store, demo.DEMO_STUDY, entropy, now),
            Role.ADMINISTRATOR: codes.administrator,
        },
        port=free_port(),
        log=folder / "app.log",
    )


def _teaching(store: Store, folder: Path, now: datetime) -> None:
    """Import a second bank and open it for teaching. No study is drawn from it."""
    import_bank(
        store,
        write_bank(folder),
        name=TEACHING,
        images=folder,
        acting=Acting(by=COMMAND_LINE, now=now),
    )
    teaching.set_availability(store, TEACHING, taught=True, acting=Acting(by=COMMAND_LINE, now=now))


def _review(store: Store, entropy: Entropy, now: datetime) -> None:
    """Open a review of the bank for teaching, by the administrator and an expert."""
    newcomer = Newcomer(handle=EXPERT, role=Role.REVIEWER)
    code = new_code(entropy)
    grant_role(store, newcomer, study="", code=code, acting=Acting(by=COMMAND_LINE, now=now))
    with store.look() as look:
        people_ids = [row.person for row in people.grants_of_deployment(look)]
        item_ids = reviewing.sample_items(look, TEACHING, 6, seed=1)
    review = reviewing.open_review(
        store,
        TEACHING,
        name=REVIEW,
        item_ids=item_ids,
        reviewers=people_ids,
        acting=Acting(by=COMMAND_LINE, now=now),
    )
    with store.change() as change:
        row = judging.judging_row(change, "review", review)
        for case in judging.assignment(change, row, people_ids[0]).waiting[:2]:
            judging.judge(
                change,
                row,
                judging.Judgement(
                    position=case.position,
                    person=people_ids[0],
                    verdict=judging.ItemVerdict.AMBIGUOUS,
                    comment="Two of the options are right.",
                ),
                now=now,
            )


def pages_for(role: Role) -> list[Entry]:
    """Return the pages of a role in a study. Administrators have those of the deployment too."""
    acts = STUDY_PERMISSIONS[role] | DEPLOYMENT_PERMISSIONS.get(role, frozenset())
    if role is Role.ADMINISTRATOR:
        acts |= COMMON_PERMISSIONS
    return [entry for entry in every_page() if entry is not SIGN_IN and entry.act in acts]


def sign_in(page: Page, server: Server, reader_id: str) -> None:
    """Sign in at a new page. An administrator enters the demo's study."""
    count_runs(page)
    enter(page, server.url, server.codes[reader_id])
    if reader_id == Role.ADMINISTRATOR:
        rest(page)
        with server.store.look() as look:
            study = study_row(look, demo.DEMO_STUDY).id
        page.locator(f"form.quiet[action=choose]:has([name=study][value='{study}']) button").click()
        page.locator(STUDY_BAR).wait_for()
        rest(page)


def turn_to(page: Page, server: Server, entry: Entry) -> None:
    """Open a page by its link in the menu, or by its address if the menu does not have it."""
    if entry.hidden:
        page.goto(f"{server.url}/{entry.path}{_WITH.get(entry.path, '')}")
        if entry.is_bare:
            page.wait_for_selector(".rr-banner")
            page.wait_for_selector("[data-state=ready], [data-step]")
        else:
            rest(page)
        return
    rest(page)
    locator = page.locator(STUDY_BAR if entry.of_study else "[data-testid=stHeader]")
    if entry.of_study:
        if not page.locator(STUDY_BAR).count():  # on a page of the server
            page.goto(f"{server.url}/studies")
            rest(page)
        page.locator(STUDY_BAR).wait_for()
    else:
        locator.get_by_role("link").first.wait_for()
    if not locator.locator("[aria-current]", has_text=translated(entry.title)).count():
        with rerun(page):
            locator.get_by_role("link").filter(has_text=translated(entry.title)).first.click()


def walk(
    page: Page,
    server: Server,
    role: Role,
    parts: Mapping[str, Sequence[str]] = PARTS,
    entries: Sequence[Entry] | None = None,
) -> Iterator[str]:
    """Sign in, visit every page of a role with its parts, and yield the name of each."""
    sign_in(page, server, role)
    entries = pages_for(role) if entries is None else entries
    for entry in sorted(
        entries, key=lambda entry: entry.hidden
    ):  # pages outside the menu come last
        turn_to(page, server, entry)
        yield entry.path
        if entry.path == "new-study" and entry.path in parts:
            with rerun(page):
                page.get_by_role("button", name=translated("Continue")).click()
            _at_step(page, translated("Bank and sample"))
            yield f"{entry.path}, a draft"
        for part in parts.get(entry.path, ()):
            choose(page, translated(part))
            if entry.path == "new-study":
                _at_step(page, translated(part))
            yield f"{entry.path}, {part}"


def _at_step(page: Page, step: str) -> None:
    """Wait for a step of a draft. The page runs twice until the step is shown."""
    steps = page.locator(".st-key-rail [data-testid=stBaseButton-secondary]")
    steps.filter(has_text=step).wait_for()
    rest(page)


def choose(page: Page, part: str) -> None:
    """Select a part by the radio or button whose label ends with its name."""
    name = re.compile(re.escape(part) + r"\W*$")
    kinds = (page.get_by_role(kind, name=name) for kind in ("radio", "button"))
    first, other = kinds
    with rerun(page):
        first.or_(other).first.click()
    drawn(page)


def upload(page: Page, path: Path) -> None:
    """Choose another file in the first upload field and wait until the server has received it.

    A form that is sent earlier may not contain the file. During an upload, the button of its form
    is disabled.
    """
    field = page.locator("input[type=file]").first
    field.wait_for(state="attached")
    rest(page)  # a running page may replace the field
    with page.expect_response(
        lambda response: "/upload_file/" in response.url and response.request.method == "PUT"
    ) as received:
        field.set_input_files(path)
    received.value.finished()
    rest(page)


def drawn(page: Page) -> None:
    """Wait for tables, figures and films, which are drawn after the page has loaded."""
    for frame in page.get_by_test_id("stDataFrame").filter(visible=True).all():
        frame.locator("canvas").first.wait_for()
    for chart in page.get_by_test_id("stPlotlyChart").all():
        chart.locator(".main-svg").first.wait_for()
    page.wait_for_function(
        "[...document.querySelectorAll('.case img')].every((film) => film.naturalWidth)"
    )


@contextmanager
def rerun(page: Page) -> Iterator[None]:
    """Wait for the run of the page that the block causes, and for its end.

    Messages from the server decide, because the page may draw the start and end of a quick run
    at once.
    """
    runs = _RUNS[page]
    before = runs[0]
    yield
    deadline = time.monotonic() + _RUN_S
    while runs[0] == before:
        assert time.monotonic() < deadline, f"{page.url} was not run again within {_RUN_S} s"
        page.wait_for_timeout(_LOOK_EVERY_MS)
    page.evaluate("() => new Promise((done) => requestIdleCallback(done, { timeout: 5000 }))")
    rest(page)


def count_runs(page: Page) -> None:
    """Count the runs of a page after its next connection, for `rerun`."""
    runs = _RUNS[page] = [0]

    def note(payload: bytes | str) -> None:
        if isinstance(payload, bytes):
            message = ForwardMsg.FromString(payload)
            if message.WhichOneof("type") == "script_finished":
                runs[0] += message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN

    page.on("websocket", lambda line: line.on("framereceived", note))


def rest(page: Page) -> None:
    """Wait until a staff page has its title and has stopped computing."""
    page.locator("h1").first.wait_for()
    still(page)
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def still(page: Page) -> None:
    """Wait until a page has stopped computing and no expander on it is still opening.

    A list closes when its container scrolls, as it does while an expander opens.
    """
    page.wait_for_function(
        """() => document.querySelector('.stApp')?.dataset.testScriptState === 'notRunning'
          && !document.querySelector(
            '[data-testid=stSpinner], [data-testid=stSkeleton], [data-stale=true], '
            + 'details[style*=overflow]'
          )""",
        polling=_LOOK_EVERY_MS,
    )


def statistician(store: Store, study: str, entropy: Entropy, now: datetime) -> str:
    """Add a statistician to a study and return the access code."""
    code = new_code(entropy)
    grant_role(
        store,
        Newcomer(handle="statistician", role=Role.STATISTICIAN),
        study=study,
        code=code,
        acting=Acting(by=COMMAND_LINE, now=now),
    )
    return code.text


def _closed(store: Store, entropy: Entropy, now: datetime) -> str:
    """Create a small study that is read and closed, with a score card for its reader."""
    values = {"cases": 6, "one_question_per": "examination", "feedback": "after study"}
    protocol = Protocol.from_json({"name": CLOSED, **values})
    studies.draw(
        store,
        bank="Demo bank",
        study=CLOSED,
        protocol=protocol,
        acting=Acting(by=COMMAND_LINE, now=now),
    )
    code = new_code(entropy)
    invitation = Invitation(reader_id=GRADUATE, level="simulated")
    studies.invite(
        store,
        study=CLOSED,
        invitations=[invitation],
        codes=[code],
        acting=Acting(by=COMMAND_LINE, now=now),
    )
    studies.open_study(store, study=CLOSED, acting=Acting(by=COMMAND_LINE, now=now))
    simulate(store, study=CLOSED, reader_id=GRADUATE, seed=1, accuracy=0.7, now=now)
    studies.close(
        store, study=CLOSED, reason="Every case is read.", acting=Acting(by=COMMAND_LINE, now=now)
    )
    return code.text


def _draft(store: Store, now: datetime) -> None:
    with store.change() as change:
        maker = holder(change, demo.ADMINISTRATOR, Role.ADMINISTRATOR, None, now)
    drafts.begin(
        store, name=DRAFT, maker=maker, bank="Demo bank", acting=Acting(by=COMMAND_LINE, now=now)
    )
