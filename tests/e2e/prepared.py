"""A deployment with something on every page, for looking at all of them: tests and pictures."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from playwright.sync_api import Page

from study import demo
from study.access import Entropy, give, new_code
from study.deployments import administrator_code, holder
from study.roles import IN_DEPLOYMENT, IN_STUDY, Role
from study.store import Store
from study.studies import study_row
from study.words import said
from tests.conftest import ROOT
from tests.e2e.server import Server, free_port
from ui.menu import SIGN_IN, Entry, every_page

STAFF = (Role.COORDINATOR, Role.STATISTICIAN, Role.ADMINISTRATOR)


def prepare(folder: Path, *, entropy: Entropy, now: datetime) -> Server:
    """Return a server, not started, whose codes are named by role, and one by `newcomer`."""
    store = demo.set_up(folder / "demo.db", ROOT / "data", entropy=entropy, now=now)
    codes = demo.fresh_codes(store, entropy=entropy, now=now)
    assert codes is not None
    return Server(
        store=Store(store.path),
        codes={
            Role.READER: codes.reader,
            "newcomer": codes.newcomer or "",
            Role.COORDINATOR: codes.coordinator,
            Role.STATISTICIAN: _statistician(store, entropy, now),
            Role.ADMINISTRATOR: administrator_code(store, name="A", entropy=entropy, now=now),
        },
        port=free_port(),
        log=folder / "app.log",
    )


def pages_for(role: Role) -> list[Entry]:
    """Return the pages of the menu that a role is for: in a study, or an administrator's beside."""
    acts = IN_DEPLOYMENT[role] if role is Role.ADMINISTRATOR else IN_STUDY[role]
    return [one for one in every_page() if one is not SIGN_IN and (not one.act or one.act in acts)]


def sign_in(page: Page, server: Server, who: str) -> None:
    """Sign in at a fresh page and wait for the home of whoever that is."""
    page.goto(server.url)
    field = page.locator("[name=access_code]")
    field.fill(server.codes[who])
    field.press("Enter")
    field.wait_for(state="detached")


def turn_to(page: Page, entry: Entry) -> None:
    """Open a page by its link in the menu; somebody with a single page has no menu and is there."""
    rest(page)
    link = page.get_by_test_id("stTopNavLink").filter(has_text=said(entry.title))
    if link.count() and not link.first.get_attribute("aria-current"):
        with rerun(page):
            link.first.click()


def choose(page: Page, part: str) -> None:
    """Choose a part of a page by the radio of its name."""
    with rerun(page):
        page.get_by_role("radio", name=part, exact=True).click()
    for chart in page.get_by_test_id("stPlotlyChart").all():
        chart.locator(".main-svg").first.wait_for()


@contextmanager
def rerun(page: Page) -> Iterator[None]:
    """Wait for the run of the page that the block brings about, and for its end."""
    page.evaluate(
        """() => {
          const app = document.querySelector('.stApp');
          window.rrRan = false;
          new MutationObserver((_, watch) => {
            if (app.dataset.testScriptState !== 'running') return;
            window.rrRan = true;
            watch.disconnect();
          }).observe(app, { attributes: true });
        }"""
    )
    yield
    page.wait_for_function("window.rrRan")
    rest(page)


def rest(page: Page) -> None:
    """Wait until a staff page has its title and computes nothing any more."""
    page.locator("h1").first.wait_for()
    page.wait_for_function(
        """() => document.querySelector('.stApp').dataset.testScriptState === 'notRunning'
          && !document.querySelector(
            '[data-testid=stSpinner], [data-testid=stSkeleton], [data-stale=true]'
          )"""
    )
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def _statistician(store: Store, entropy: Entropy, now: datetime) -> str:
    code = new_code(entropy)
    with store.change() as change:
        study = study_row(change, demo.STUDY)["id"]
        person = holder(change, "statistician", Role.STATISTICIAN, study, now)
        give(change, code, person=person, now=now)
    return code.text
