"""Every page of the menu is shown in the docs, with a sentence and a picture."""

from tests.conftest import ROOT
from ui.app.menu import every_page

DOCS = ROOT / "docs"


def test_every_page_is_shown_in_the_docs() -> None:
    """Its heading stands in pages.md; its picture was made (`make screenshots`)."""
    text = (DOCS / "pages.md").read_text("utf-8")
    names = [entry.path for entry in every_page()]
    assert not [name for name in names if f"\n## {name}\n" not in text]
    assert not [name for name in names if not (DOCS / "images" / f"{name}.png").is_file()]
