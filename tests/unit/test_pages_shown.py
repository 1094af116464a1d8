"""Every page of the menu is shown in the docs, with a sentence, in both widths and both schemes."""

import pytest

from tests.conftest import ROOT
from ui.menu import Entry, every_page

DOCS = ROOT / "docs"


@pytest.mark.parametrize("entry", every_page(), ids=lambda one: one.path)
def test_a_page_is_shown_in_the_docs(entry: Entry) -> None:
    """Its heading stands in pages.md; its pictures were made (`make screenshots`)."""
    assert f"\n## {entry.path}\n" in (DOCS / "pages.md").read_text()
    # The reading page and its previews are dark whatever the system prefers.
    schemes = ("",) if entry.bare else ("", "-dark")
    for width in (1440, 1920):
        for scheme in schemes:
            assert (DOCS / "images" / f"{entry.path}-{width}{scheme}.png").is_file(), (
                width,
                scheme,
            )
