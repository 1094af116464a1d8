"""Makes the pictures of the README and docs from a demo deployment of its own, in a real browser.

Run with ``make screenshots``; then look at them. Which pages there are is asked of the menu.
"""

import io
import secrets
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import analysis
from study import bundle, demo
from study.roles import Role
from tests.e2e.conftest import Reader
from tests.e2e.prepared import GRADUATE, PARTS, drawn, prepare, rerun, rest, sign_in, walk
from tests.e2e.server import FLAGS, NAMES, Server, chromium
from ui.menu import SIGN_IN, every_page

HERE = Path(__file__).parent
Scheme = Literal["light", "dark"]
SIZES = ((1440, 900), (1920, 1080))


TALLEST = 1600
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
BOTH = {"results": ("Agreement", "Cases")}
"""Parts of pages shown in every width and scheme; the others in the first only."""


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
                    _score_card(browser, server, images, size, scheme)
                    _staff(browser, server, images, size, scheme)
            _report(browser, server, images, Path(folder))
        finally:
            server.kill()
            browser.close()
    return 0


def file_name(where: str, width: int, scheme: str = "light") -> str:
    """Return what the picture of a page is called, or of a part of one: by the part's name."""
    name = where.partition(", ")[2] or where
    return f"{name.lower().replace(' ', '-')}-{width}{'-dark' if scheme == 'dark' else ''}.png"


def _keep(page: Page, path: Path) -> None:
    """Write a picture in 256 colours, of which pages of words and charts have fewer."""
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
        path, optimize=True
    )


def _keep_all(page: Page, path: Path) -> None:
    """Write a picture of a page from its top to its end, or to where it is too tall."""
    size = page.viewport_size
    assert size is not None
    drawn(page)
    tall = int(page.evaluate("document.querySelector('.stMain').scrollHeight"))
    height = min(max(tall, size["height"]), TALLEST)
    page.set_viewport_size({"width": size["width"], "height": height})
    page.evaluate("document.querySelector('.stMain').scrollTo(0, 0)")
    rest(page)
    drawn(page)
    _keep(page, path)
    page.set_viewport_size(size)


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


def _score_card(
    browser: Browser, server: Server, images: Path, size: tuple[int, int], scheme: Scheme
) -> None:
    page = _page(browser, size, scheme)
    sign_in(page, server, GRADUATE)
    page.locator(".scored img").first.wait_for()
    rest(page)
    page.wait_for_function(
        "[...document.querySelectorAll('.scored .films img')].every((film) => film.naturalWidth)"
    )
    _keep(page, images / file_name("score-card", size[0], scheme))
    page.context.close()


def _staff(
    browser: Browser, server: Server, images: Path, size: tuple[int, int], scheme: Scheme
) -> None:
    """Show every page of a study's staff, and its parts."""
    page = _page(browser, size, scheme)
    bare = {entry.path for entry in every_page() if entry.bare}
    parts = PARTS if (size, scheme) == (SIZES[0], SCHEMES[0]) else BOTH
    for where in walk(page, server, Role.ADMINISTRATOR, parts):
        name = images / file_name(where, size[0], scheme)
        if where in bare:
            if scheme == "light":  # they are dark whatever the system prefers
                Reader(page).wait_picture()
                _keep(page, name)
        else:
            _fill(page, where)
            _keep_all(page, name)
    page.context.close()


def _fill(page: Page, where: str) -> None:
    """Do what a page waits for before it shows what it is for."""
    if where == "archive":
        page.get_by_role("button", name="Make the files").click()
        page.get_by_role("table").get_by_role("link").first.wait_for()
    elif where == "deployment":
        with rerun(page):
            page.get_by_role("button", name="Make a backup now").click()
    elif where == "trail":
        page.get_by_role("button", name="Verify now").click()
        page.get_by_text("All holds").wait_for()
    elif where == "results, Cases":
        box = page.get_by_test_id("stDataFrame").bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 20, box["y"] + 55)
        page.locator(".case img").first.wait_for()
    rest(page)


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
