"""Makes the pictures of the README and docs from a demo deployment of its own, in a real browser.

Run with ``make screenshots``; then look at them. Which pages there are is asked of the menu.
"""

import io
import secrets
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import analysis
from study import bundle, demo
from study.roles import Role
from tests.e2e.conftest import Reader
from tests.e2e.prepared import STAFF, choose, pages_for, prepare, rest, sign_in, turn_to
from tests.e2e.server import FLAGS, NAMES, Server, chromium
from ui.menu import SIGN_IN, Entry

HERE = Path(__file__).parent
Scheme = Literal["light", "dark"]
SIZES = ((1440, 900), (1920, 1080))


SCHEMES: tuple[Scheme, ...] = ("light", "dark")
PAGES = {
    role: [one for one in pages_for(role) if one not in pages_for(Role.COORDINATOR)]
    for role in STAFF
} | {Role.COORDINATOR: pages_for(Role.COORDINATOR)}
"""The pages shown as each role sees them: a coordinator's, and what others have beside."""


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
        server = prepare(Path(folder), entropy=secrets.token_bytes, now=datetime.now(UTC))
        server.start()
        try:
            for size in SIZES:
                _reader(browser, server, images, size)
            _check(browser, server, images)
            for size in SIZES:
                for scheme in SCHEMES:
                    _sign_in_page(browser, server, images, size, scheme)
                    for role, entries in PAGES.items():
                        _staff(browser, server, role, entries, images, size, scheme)
            _report(browser, server, images, Path(folder))
        finally:
            server.kill()
            browser.close()
    return 0


def file_name(path: str, width: int, scheme: str) -> str:
    """Return what the picture of a page is called."""
    return f"{path}-{width}{'-dark' if scheme == 'dark' else ''}.png"


def _keep(page: Page, path: Path) -> None:
    """Write a picture in 256 colours, of which pages of words and charts have fewer."""
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
        path, optimize=True
    )


def _page(browser: Browser, size: tuple[int, int], scheme: Scheme = "light") -> Page:
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    context.set_default_timeout(60_000)
    return context.new_page()


def _reader(browser: Browser, server: Server, images: Path, size: tuple[int, int]) -> None:
    page = _page(browser, size)
    reader = Reader(page)
    reader.sign_in(server.url, server.codes[Role.READER])
    reader.wait("ready")
    page.keyboard.press("b")
    page.screenshot(path=images / f"read-{size[0]}.png")
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


def _sign_in_page(
    browser: Browser, server: Server, images: Path, size: tuple[int, int], scheme: Scheme
) -> None:
    page = _page(browser, size, scheme)
    page.goto(server.url)
    page.wait_for_selector("[name=access_code]")
    rest(page)
    _keep(page, images / file_name(SIGN_IN.path, size[0], scheme))
    page.context.close()


def _staff(
    browser: Browser,
    server: Server,
    role: Role,
    entries: Sequence[Entry],
    images: Path,
    size: tuple[int, int],
    scheme: Scheme,
) -> None:
    if not entries:
        return
    page = _page(browser, size, scheme)
    sign_in(page, server, role)
    for entry in entries:
        turn_to(page, entry)
        _drawn(page)
        _keep(page, images / file_name(entry.path, size[0], scheme))
        if entry.path == "results":
            _results(page, images, size[0], scheme)
    page.context.close()


def _results(page: Page, images: Path, width: int, scheme: Scheme) -> None:
    """Show a part with figures, and the films of a case."""
    choose(page, "Agreement")
    _drawn(page)
    _keep(page, images / file_name("agreement", width, scheme))
    choose(page, "Cases")
    _drawn(page)
    box = page.get_by_test_id("stDataFrame").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 20, box["y"] + 55)
    page.locator(".case img").first.wait_for()
    rest(page)
    _drawn(page)
    _keep(page, images / file_name("cases", width, scheme))


def _drawn(page: Page) -> None:
    """Wait for what is drawn after the page is there: tables, figures, films."""
    for frame in page.get_by_test_id("stDataFrame").all():
        frame.locator("canvas").first.wait_for()
    for chart in page.get_by_test_id("stPlotlyChart").all():
        chart.locator(".plot-container").first.wait_for()
    page.wait_for_function(
        "[...document.querySelectorAll('.case img')].every((film) => film.naturalWidth)"
    )


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
