"""Take the screenshots of the README and the documentation from a demo, in a browser.

Run ``make screenshots`` and check the images. The menu defines the pages.
"""

import io
import secrets
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

import analysis
from study import demo
from study.exchange import bundle
from study.people.roles import Role
from tests.conftest import ROOT
from tests.e2e.conftest import Reader
from tests.e2e.prepared import GRADUATE, PARTS, drawn, prepare, rerun, rest, sign_in, walk
from tests.e2e.server import FLAGS, NAMES, Server, chromium
from ui.app.menu import SIGN_IN, every_page

WIDTH, HEIGHT, TALLEST = 1440, 900, 1600


def main() -> int:
    """Take all screenshots; return an exit status."""
    path = chromium()
    if path is None:
        print(f"Chromium is missing (looked for {', '.join(NAMES)}).", file=sys.stderr)
        return 1
    images = ROOT / "docs" / "images"
    images.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        server = prepare(Path(folder), entropy=secrets.token_bytes, now=datetime.now(UTC))
        server.start()
        try:
            for show in (_reader, _sign_in_page, _score_card, _staff):
                show(browser, server, images)
            _report(browser, server, images, Path(folder))
        finally:
            server.kill()
            browser.close()
    return 0


def file_name(place: str) -> str:
    """Return the file name of the screenshot of a page or of a part of it."""
    name = place.partition(", ")[2] or place
    return f"{name.lower().replace(' ', '-')}.png"


def _keep(page: Page, path: Path) -> None:
    """Write a screenshot in 256 colours, which are enough for text and charts."""
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
        path, optimize=True
    )


def _keep_all(page: Page, path: Path) -> None:
    """Write a screenshot of a complete page, up to a maximum height."""
    drawn(page)
    tall = int(page.evaluate("document.querySelector('.stMain').scrollHeight"))
    page.set_viewport_size({"width": WIDTH, "height": min(max(tall, HEIGHT), TALLEST)})
    page.evaluate("document.querySelector('.stMain').scrollTo(0, 0)")
    rest(page)
    drawn(page)
    _keep(page, path)
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})


def _page(browser: Browser) -> Page:
    viewport: ViewportSize = {"width": WIDTH, "height": HEIGHT}
    context = browser.new_context(viewport=viewport, color_scheme="light")
    context.set_default_timeout(60_000)
    return context.new_page()


def _reader(browser: Browser, server: Server, images: Path) -> None:
    page = _page(browser)
    reader = Reader(page)
    reader.sign_in(server.url, server.codes[Role.READER])
    reader.wait("ready")
    page.keyboard.press("b")
    page.screenshot(path=images / "read.png")
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
    page.screenshot(path=images / "tools.png")


def _sign_in_page(browser: Browser, server: Server, images: Path) -> None:
    page = _page(browser)
    page.goto(server.url)
    page.wait_for_selector("[name=access_code]")
    rest(page)
    _keep(page, images / file_name(SIGN_IN.path))
    page.context.close()


def _score_card(browser: Browser, server: Server, images: Path) -> None:
    page = _page(browser)
    sign_in(page, server, GRADUATE)
    page.locator(".scored img").first.wait_for()
    rest(page)
    page.wait_for_function(
        "[...document.querySelectorAll('.scored .films img')].every((film) => film.naturalWidth)"
    )
    _keep(page, images / file_name("score-card"))
    page.context.close()


def _staff(browser: Browser, server: Server, images: Path) -> None:
    """Take screenshots of all staff pages of a study and their parts."""
    page = _page(browser)
    bare = {entry.path for entry in every_page() if entry.is_bare}
    for place in walk(page, server, Role.ADMINISTRATOR, PARTS):
        name = images / file_name(place)
        if place in bare:
            Reader(page).wait_picture()
            _keep(page, name)
        else:
            _fill(page, place)
            _keep_all(page, name)
    page.context.close()


def _fill(page: Page, place: str) -> None:
    """Perform the action that a page needs before it shows its content."""
    if place == "archive":
        page.get_by_role("button", name="Create the files").click()
        page.get_by_role("table").get_by_role("link").first.wait_for()
    elif place == "deployment":
        with rerun(page):
            page.get_by_role("button", name="Make a backup now").click()
    elif place == "trail":
        page.get_by_role("button", name="Verify now").click()
        page.get_by_text("Verified").wait_for()
    elif place == "results":
        parts = page.get_by_role("radio", name="Findings")
        parts.or_(
            page.get_by_role("button", name="Findings")
        ).first.wait_for()  # the analysis is complete
    elif place == "results, Cases":
        box = page.get_by_test_id("stDataFrame").bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 20, box["y"] + 55)
        page.locator(".case img").first.wait_for()
    rest(page)


def _report(browser: Browser, server: Server, images: Path, folder: Path) -> None:
    bundle.export(server.store, study=demo.DEMO_STUDY, out=folder / "bundle")
    analysis.write_report(analysis.read_bundle(folder / "bundle"), folder / "report")
    page = _page(browser)
    page.goto((folder / "report" / "report.html").as_uri())
    page.locator(".js-plotly-plot .heatmaplayer").first.wait_for()
    page.locator("section#comparison").evaluate('it => it.scrollIntoView({behavior: "instant"})')
    page.screenshot(path=images / "report-comparison.png")
    page.context.close()


if __name__ == "__main__":
    sys.exit(main())
