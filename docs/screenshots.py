"""Makes the pictures of the README and docs from a demo deployment of its own, in a real browser.

Run with ``make screenshots``; then look at them.
"""

import secrets
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

import analysis
from study import bundle, demo
from study.store import Store
from tests.e2e.conftest import Reader
from tests.e2e.server import FLAGS, NAMES, Server, chromium, free_port

HERE = Path(__file__).parent
DATA = HERE.parent / "data"
SIZES = ((1440, 900), (1920, 1080))


def main() -> int:
    """Make every picture; return an exit status."""
    found = chromium()
    if found is None:
        print(f"No Chromium here (looked for {', '.join(NAMES)}).", file=sys.stderr)
        return 1
    images = HERE / "images"
    images.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        server = _serve(Path(folder))
        try:
            for size in SIZES:
                _reader(browser, server, images, size)
            _check(browser, server, images)
            for size in SIZES:
                _coordinator(browser, server, images, size)
            _report(browser, server, images, Path(folder))
        finally:
            server.kill()
            browser.close()
    return 0


def _serve(folder: Path) -> Server:
    now = datetime.now(UTC)
    store = demo.set_up(folder / "demo.db", DATA, entropy=secrets.token_bytes, now=now)
    codes = demo.fresh_codes(store, entropy=secrets.token_bytes, now=now)
    assert codes is not None
    server = Server(
        store=Store(store.path),
        codes={
            "reader": codes.reader,
            "newcomer": codes.newcomer or "",
            "coordinator": codes.coordinator,
        },
        port=free_port(),
        log=folder / "app.log",
    )
    server.start()
    return server


def _page(browser: Browser, size: tuple[int, int]) -> Page:
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(60_000)
    return context.new_page()


def _reader(browser: Browser, server: Server, images: Path, size: tuple[int, int]) -> None:
    page = _page(browser, size)
    reader = Reader(page)
    page.goto(server.url)
    page.wait_for_selector("[name=access_code]")
    page.screenshot(path=images / f"sign-in-{size[0]}.png")
    reader.sign_in(server.url, server.codes["reader"])
    reader.wait("ready")
    page.keyboard.press("b")
    page.screenshot(path=images / f"reading-{size[0]}.png")
    if size == SIZES[0]:
        _tools(page, images)
    page.context.close()


def _tools(page: Page, images: Path) -> None:
    films = page.locator(".rr-films").bounding_box()
    assert films is not None
    x, y = films["x"] + films["width"] * 0.2, films["y"] + films["height"] * 0.45
    page.keyboard.press("j")
    page.mouse.move(x - 90, y + 200)
    page.mouse.down()
    page.mouse.move(x + 190, y + 200, steps=4)
    page.mouse.up()
    page.keyboard.press("j")
    page.mouse.move(x + 530, y - 80)
    page.keyboard.press("m")
    page.locator(".rr-glass").wait_for()
    Reader(page).wait_picture()
    page.screenshot(path=images / f"tools-{SIZES[0][0]}.png")


def _check(browser: Browser, server: Server, images: Path) -> None:
    page = _page(browser, SIZES[0])
    Reader(page).sign_in(server.url, server.codes["newcomer"])
    page.wait_for_selector("[data-step=consent]")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-step=instructions]")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-step=questionnaire]")
    for key in ("1", "Enter", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector("[data-step=display] .rr-field")
    page.screenshot(path=images / f"display-{SIZES[0][0]}.png")
    page.context.close()


def _coordinator(browser: Browser, server: Server, images: Path, size: tuple[int, int]) -> None:
    page = _page(browser, size)
    Reader(page).sign_in(server.url, server.codes["coordinator"])
    page.locator("[data-testid=stDataFrame] canvas").nth(1).wait_for()
    page.get_by_text("Download the bundle").wait_for()
    page.screenshot(path=images / f"overview-{size[0]}.png")
    page.get_by_role("link", name="Results").click()
    page.get_by_text("What was studied").wait_for()
    page.screenshot(path=images / f"results-{size[0]}.png")
    page.get_by_role("radio", name="Cases").click()
    table = page.get_by_test_id("stDataFrame")
    table.locator("canvas").first.wait_for()
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 20, box["y"] + 55)
    page.locator(".case img").first.wait_for()
    page.wait_for_function(
        "[...document.querySelectorAll('.case img')].every((film) => film.naturalWidth)"
    )
    page.screenshot(path=images / f"cases-{size[0]}.png")
    page.context.close()


def _report(browser: Browser, server: Server, images: Path, folder: Path) -> None:
    bundle.export(server.store, study=demo.STUDY, out=folder / "bundle")
    analysis.write_report(analysis.read_bundle(folder / "bundle"), folder / "report")
    page = _page(browser, SIZES[0])
    page.goto((folder / "report" / "report.html").as_uri())
    page.locator(".js-plotly-plot .heatmaplayer").first.wait_for()
    page.screenshot(path=images / "report-findings-1440.png")
    for part in ("comparison", "agreement"):
        page.locator(f"section#{part}").evaluate('it => it.scrollIntoView({behavior: "instant"})')
        page.screenshot(path=images / f"report-{part}-1440.png")
    page.context.close()


if __name__ == "__main__":
    sys.exit(main())
