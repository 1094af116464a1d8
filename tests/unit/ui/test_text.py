"""Texts of the protocol on a page: Markdown without scripts or references to other servers."""

import re

import pytest

from ui.parts.text import html


def test_markdown_becomes_html() -> None:
    """Headings, emphasis, lists and tables are supported."""
    made = html("# Title\n\n- **one**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    for part in ("<h1>Title</h1>", "<li><strong>one</strong></li>", "<td>2</td>"):
        assert part in made


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <b onclick=x>b</b>",
        "<div>\nblock\n</div>",
        "<!-- comment -->",
        "<img src=x onerror=alert(1)>",
    ],
)
def test_html_in_the_text_appears_as_text(text: str) -> None:
    """The result contains only Markdown's own paragraph."""
    made = html(text)
    assert set(re.findall(r"<[^>]*>", made)) == {"<p>", "</p>"}
    assert "&lt;" in made


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java&#115;cript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "//elsewhere.example",
        "relative/page",
        "#here",
        "vbscript:x",
    ],
)
def test_links_are_limited_to_web_and_mail_addresses(link: str) -> None:
    """Inline links, references and autolinks of other schemes remain as text."""
    for text in (f"[words]({link})", f"[words][1]\n\n[1]: {link}", f"words <{link}>"):
        made = html(text)
        assert "href" not in made
        assert "words" in made


@pytest.mark.parametrize("link", ["https://a.example/x", "http://a.example", "mailto:a@b.example"])
def test_a_link_opens_a_new_window_without_referrer(link: str) -> None:
    """The new window has no opener."""
    assert f'<a href="{link}" target="_blank" rel="noopener noreferrer">' in html(f"[w]({link})")


def test_no_image_is_loaded() -> None:
    """It would disclose to another server when a reader reads."""
    made = html('![alt](https://a.example/x.png "t") ![r][1]\n\n[1]: https://a.example/y.png')
    assert "<img" not in made
    assert "src=" not in made
