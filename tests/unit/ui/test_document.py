"""The HTML document of every page states its language and writing direction."""

from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from starlette.applications import Starlette
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from study.base import translation as words
from study.base.text import quoted
from ui.app.middleware import DOCUMENT, HEADERS
from ui.server.access import refusal_text

HEAD = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n'
SERVED = '<!DOCTYPE html>\n<html lang="en">\n<head></head></html>'


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """Serve a document as Streamlit does, with catalogues of two languages besides English."""
    for name in ("de", "ar"):
        (tmp_path / name).mkdir()
        (tmp_path / name / words.CATALOGUE_FILE).write_text(
            f'{HEAD}\nmsgid "Hello {{who}}"\nmsgstr ""\n'
        )
    (tmp_path / "index.html").write_text(SERVED)
    monkeypatch.setattr(words, "folder", lambda: tmp_path)
    page = Route("/{name:path}", lambda _: FileResponse(tmp_path / "index.html"))
    other = Route("/other", lambda _: Response(SERVED))
    return TestClient(Starlette(routes=[other, page], middleware=[HEADERS, DOCUMENT]))


@pytest.mark.parametrize(
    ("wanted", "opening_tag"),
    [
        ("de-AT", b'lang="de" dir="ltr"'),
        ("ar", b'lang="ar" dir="rtl"'),
        ("xx", b'lang="en" dir="ltr"'),
    ],
)
def test_the_document_states_its_language_and_direction(
    browser: TestClient, wanted: str, opening_tag: bytes
) -> None:
    """A cached copy in another language is not reused."""
    known = browser.get("/", headers={"Accept-Language": "xx"}).headers
    assert "etag" not in known
    answer = browser.get("/", headers={"Accept-Language": wanted, "Range": "bytes=0-3"})
    assert answer.status_code == 200
    assert answer.content == SERVED.encode().replace(b'lang="en"', opening_tag)
    assert browser.get("/other", headers={"Accept-Language": wanted}).text == SERVED


@pytest.mark.parametrize(
    ("path", "home", "kept"),
    [
        ("/", "read", True),
        ("/", "studies", False),
        ("/", "sign-in-page", False),
        ("/review", "reviews", True),
        ("/teach", "studies", True),
        ("/preview", "overview", True),
        ("/people", "overview", False),
    ],
)
def test_browsers_are_asked_not_to_translate_pages_with_cases(
    browser: TestClient, monkeypatch: pytest.MonkeyPatch, path: str, home: str, kept: bool
) -> None:
    """They are recognized by path or as the person's first page. Other pages can be translated."""
    monkeypatch.setattr("ui.app.middleware._home_path", AsyncMock(return_value=home))
    assert ('<meta name="google" content="notranslate">' in browser.get(path).text) is kept


@pytest.mark.parametrize("path", ["/people/", "/sign-in-page/", "/review/"])
def test_a_page_with_a_final_slash_has_a_relative_redirect(
    browser: TestClient, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """A proxy may add a prefix to the address, which an absolute redirect would lose."""
    monkeypatch.setattr("ui.app.middleware._home_path", AsyncMock(return_value="overview"))
    answer = browser.get(path, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (301, f"..{path.rstrip('/')}")


def test_a_provider_that_does_not_answer_leads_to_the_sign_in_page() -> None:
    """Streamlit answers with a plain text without a link back."""
    fails = Route("/auth/login", lambda _: Response("Authentication error", status_code=400))
    browser = TestClient(Starlette(routes=[fails], middleware=[HEADERS]), follow_redirects=False)
    answer = browser.get("/auth/login")
    assert (answer.status_code, answer.headers["location"]) == (303, "../?refused=provider")
    assert answer.text == ""
    assert "access code" in refusal_text("provider")


def test_names_are_isolated_in_right_to_left_languages(browser: TestClient) -> None:
    """Copied text of other languages contains no isolation marks."""
    assert words.t("Hello {who}", who="R-1") == "Hello R-1"
    with words.in_language("ar"):
        assert words.t("Hello {who}", who="R-1") == "Hello \u2068R-1\u2069"
        assert words.t("Hello {who}", who=quoted("R-1")) == "Hello \u2068“\u2068R-1\u2069”\u2069"
        assert words.t("Hello {who}", who=1000) == "Hello 1,000"
