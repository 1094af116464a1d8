"""Fixtures of the browser tests: a running server on a free port, and a browser."""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Playwright,
    Route,
    expect,
    sync_playwright,
)

from study.bank.importing import SIMULATED_OPTIONS, import_bank
from study.lifecycle import studies
from study.lifecycle.deployments import coordinator_code, init
from study.people.codes import Entropy
from study.store import Store
from tests.conftest import ACTING, NOW, draw_trial, entropy_from, invite, write_bank
from tests.e2e.server import FLAGS, Server, begin, chromium, enter, free_port

Profile = Callable[..., BrowserContext]
WITHIN_MS = 60_000
"""Timeout of every wait. A correct page needs much less."""

expect.set_options(timeout=WITHIN_MS)


@pytest.fixture(scope="session")
def port() -> int:
    """Return the port of the servers of `serve`, for which the browser has cached Streamlit."""
    return free_port()


_SECRETS = count(1)


def other_entropy() -> Entropy:
    """Return the entropy of another deployment: the cache is shared by films of all of them."""
    return entropy_from(next(_SECRETS))


@pytest.fixture
def serve(tmp_path: Path, port: int) -> Iterator[Callable[..., Server]]:
    """Return a function that opens a study with given protocol values and serves it."""
    started: list[Server] = []

    def make(
        readers: tuple[str, ...] = ("R1",),
        bank: Path | None = None,
        watched: tuple[str, ...] = (),
        add_models: Callable[[Store], None] | None = None,
        **values: Any,
    ) -> Server:
        store = init(tmp_path / "store.db", entropy=other_entropy(), now=NOW)
        path = bank or write_bank(tmp_path / "bank")
        import_bank(
            store,
            path,
            name="bank",
            images=path.parent,
            options=SIMULATED_OPTIONS,
            acting=ACTING,
        )
        draw_trial(store, {"cases": 6, "one_question_per": "item", **values})
        invited = invite(store, *readers)
        if add_models:
            add_models(store)
        studies.open_study(store, study="trial", acting=ACTING)
        codes = {name: code.text for name, code in zip(readers, invited, strict=True)}
        codes["coordinator"] = coordinator_code(
            store, study="trial", name="c", entropy=entropy_from(7), now=NOW
        )
        log = tmp_path / "app.log"
        server = Server(store=store, codes=codes, port=port, log=log, watched=watched)
        server.start()
        started.append(server)
        return server

    yield make
    for server in started:
        server.kill()


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Return a running Playwright."""
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Return Debian's Chromium, or skip the tests and state how to install it."""
    path = chromium()
    if path is None:
        pytest.skip("no Chromium on this machine; install it with: apt-get install chromium")
    launched = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
    yield launched
    launched.close()


def _profile(browser: Browser, **options: Any) -> BrowserContext:
    """Return a new profile whose user prefers reduced motion.

    Transitions take a fifth of the processor time of a staff page. The profile of `test_reports`,
    which tests where a page scrolls to, has them.
    """
    size = {"width": 1024, "height": 700}
    new = browser.new_context(**{"viewport": size, "reduced_motion": "reduce", **options})
    new.set_default_timeout(WITHIN_MS)
    return new


class Profiles:
    """Browser profiles that tests share in sequence, and that are emptied between tests.

    Each has a page that keeps the process of its site alive. The process has compiled the scripts
    of Streamlit, and the cache has its files: together half of the processor time of a first page.
    """

    def __init__(self, browser: Browser, port: int) -> None:
        self._browser = browser
        self._origin = f"http://127.0.0.1:{port}"
        self._free: list[BrowserContext] = []

    def take(self) -> BrowserContext:
        """Return a profile without cookies, stored data and pages, with a window of 1024 x 700.

        This is the smallest window that a protocol allows by default. Without a graphics card,
        every pixel costs processor time.
        """
        if self._free:
            return self._free.pop()
        browser_context = _profile(self._browser)
        blank = browser_context.new_page()
        blank.route("**/*", lambda route: route.fulfill(body=""))
        blank.goto("http://127.0.0.1/")
        return browser_context

    def give_back(self, profile: BrowserContext) -> None:
        """Empty a profile for the next test."""
        blank, *others = profile.pages
        for page in others:
            page.close()
        profile.set_offline(False)
        profile.clear_cookies()
        devtools = profile.new_cdp_session(blank)
        stored = "local_storage,indexeddb,cache_storage,service_workers"
        devtools.send(
            "Storage.clearDataForOrigin", {"origin": self._origin, "storageTypes": stored}
        )
        devtools.detach()
        self._free.append(profile)


@pytest.fixture(scope="session")
def profiles(browser: Browser, port: int) -> Profiles:
    """Return the profiles that tests use one after the other."""
    return Profiles(browser, port)


@pytest.fixture
def profile(profiles: Profiles) -> Iterator[Profile]:
    """Return a function that returns another browser profile at each call.

    Tests must not add scripts and routes to these profiles, but to their pages.
    """
    taken: list[BrowserContext] = []

    def take() -> BrowserContext:
        taken.append(profiles.take())
        return taken[-1]

    yield take
    for used in taken:
        profiles.give_back(used)


@pytest.fixture
def new_profile(browser: Browser) -> Iterator[Profile]:
    """Return a function that creates a profile with other options for a single test."""
    contexts: list[BrowserContext] = []

    def make(**options: Any) -> BrowserContext:
        contexts.append(_profile(browser, **options))
        return contexts[-1]

    yield make
    for opened in contexts:
        opened.close()


def in_the_render_worker(place: Page | BrowserContext, code: str) -> None:
    """Run JavaScript in the worker that draws the films, before its own code."""

    def answer(route: Route) -> None:
        original = route.fetch()
        route.fulfill(response=original, body=f"{original.text()}\n{code}")

    place.route("**/render-worker.js", answer)


NO_WEBGL = """
const contextOf = OffscreenCanvas.prototype.getContext;
OffscreenCanvas.prototype.getContext = function (kind, ...more) {
  return kind === "webgl2" ? null : contextOf.call(this, kind, ...more);
};
"""


@pytest.fixture
def dense(browser: Browser) -> Iterator[BrowserContext]:
    """Return a profile of 1000 x 700 on a screen with two device pixels per CSS pixel."""
    # The factor of a viewport does not apply to its canvases, so the screen has it too.
    args = [*FLAGS, "--force-device-scale-factor=2"]
    launched = browser.browser_type.launch(executable_path=chromium(), args=args)
    browser_context = launched.new_context(
        viewport={"width": 1000, "height": 700}, device_scale_factor=2
    )
    browser_context.set_default_timeout(WITHIN_MS)
    yield browser_context
    launched.close()


@pytest.fixture
def context(profile: Profile) -> BrowserContext:
    """Return the profile of `reader`."""
    return profile()


@dataclass
class Reader:
    """A reader at a page who uses the keyboard only."""

    page: Page

    def state(self, name: str) -> str:
        """Return a ``data-`` attribute of the room."""
        return self.page.locator("[data-label=room]").get_attribute(f"data-{name}") or ""

    def sign_in(self, url: str, code: str) -> None:
        """Open the address and type the code into the field that has the focus."""
        self.page.goto(url)
        self.page.wait_for_function(
            "document.activeElement?.shadowRoot?.activeElement?.name === 'access_code' "
            "|| document.activeElement?.name === 'access_code'"
        )
        self.page.keyboard.type(code)
        self.page.keyboard.press("Enter")

    def enter(self, url: str, code: str) -> None:
        """Sign in with a request like that of the form, and open the address."""
        enter(self.page, url, code)

    def wait(self, state: str = "ready", position: int | None = None) -> None:
        """Wait for a state of the room, and optionally for the position of a case.

        Start the study if the room waits for that.
        """
        case = "" if position is None else f"[data-position='{position}']"
        selector = f"[data-state='{state}']{case}"
        if state == "ready":
            begin(self.page, selector)
        self.page.wait_for_selector(selector)

    def answer(self, key: str) -> None:
        """Answer the case on the screen with a key and confirm it."""
        self.page.keyboard.press(key)
        self.page.keyboard.press("Enter")

    def brightness(self) -> float:
        """Return the share of bright pixels (above mid-grey) where the films are shown."""
        shot = self.page.locator(".rr-films").screenshot()
        grey = np.asarray(Image.open(io.BytesIO(shot)).convert("L"))
        return float((grey > 127).mean())

    def wait_picture(self) -> None:
        """Wait until the film is drawn completely in full resolution."""
        self.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        self.page.wait_for_selector(".rr-canvas[data-picture='whole']")

    def wait_saved(self) -> None:
        """Wait until every answer is acknowledged."""
        self.page.wait_for_selector("[data-outbox='0']")


@pytest.fixture
def reader(context: BrowserContext) -> Reader:
    """Return a reader at a new page."""
    return Reader(context.new_page())
