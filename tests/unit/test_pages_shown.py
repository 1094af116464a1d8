"""Every page of the menu is shown in the docs and checked in a browser."""

from study.people.roles import Role
from tests.conftest import ROOT
from tests.e2e.prepared import pages_for
from ui.app.menu import SIGN_IN, every_page

DOCS = ROOT / "docs"


def test_every_page_is_shown_in_the_docs() -> None:
    """The file docs/pages.md has a heading and a screenshot of each page (`make screenshots`)."""
    text = (DOCS / "pages.md").read_text("utf-8")
    names = [entry.path for entry in every_page()]
    assert not [name for name in names if f"\n## {name}\n" not in text]
    assert not [name for name in names if not (DOCS / "images" / f"{name}.png").is_file()]


def test_every_page_of_the_menu_is_checked_for_a_role() -> None:
    """The tests in `tests/e2e/test_every_page.py` skip a page that no role can open."""
    opened = {entry.path for role in (Role.ADMINISTRATOR, Role.READER) for entry in pages_for(role)}
    assert opened | {SIGN_IN.path} == {entry.path for entry in every_page()}
