"""Which pages there are, and what somebody must be allowed to do to see one."""

from dataclasses import dataclass
from pathlib import Path

from study.base.translation import later
from study.people.roles import Act
from study.people.signing_in import Person


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A page: its file, its title marked for the catalogue, its address, the act it is for.

    A hidden one is led to from other pages and stands in no menu. A bare one is covered by the
    reading component, and keeps the staff's styles off it.
    """

    file: str
    title: str
    path: str
    act: Act | None
    hidden: bool = False
    bare: bool = False


STUDIES = Entry(file="studies.py", title=later("Studies"), path="studies", act=Act.CHOOSE)
SIGN_IN = Entry(file="sign_in.py", title=later("Sign in"), path="sign-in-page", act=None)
_PAGES = (
    STUDIES,
    Entry(file="read.py", title=later("Read"), path="read", act=Act.READ, bare=True),
    Entry(file="overview.py", title=later("Overview"), path="overview", act=Act.WATCH),
    Entry(file="set_up.py", title=later("Set up"), path="set-up", act=Act.SET_UP),
    Entry(file="people.py", title=later("People"), path="people", act=Act.PEOPLE),
    Entry(file="models.py", title=later("Models"), path="models", act=Act.MODELS),
    Entry(file="results.py", title=later("Results"), path="results", act=Act.RESULTS),
    Entry(file="archive.py", title=later("Archive"), path="archive", act=Act.EXPORT),
    Entry(file="trail.py", title=later("Trail"), path="trail", act=Act.TRAIL),
    Entry(file="new_study.py", title=later("New study"), path="new-study", act=Act.MAKE_STUDY),
    Entry(file="banks.py", title=later("Banks"), path="banks", act=Act.MAKE_STUDY),
    Entry(file="deployment.py", title=later("Deployment"), path="deployment", act=Act.DEPLOYMENT),
    Entry(
        file="score_card.py",
        title=later("Score card"),
        path="score-card",
        act=Act.READ,
        hidden=True,
    ),
    Entry(
        file="preview.py",
        title=later("Preview"),
        path="preview",
        act=Act.SET_UP,
        hidden=True,
        bare=True,
    ),
    Entry(
        file="preview_draft.py",
        title=later("Preview of a draft"),
        path="preview-draft",
        act=Act.MAKE_STUDY,
        hidden=True,
        bare=True,
    ),
)


def every_page() -> tuple[Entry, ...]:
    """Return every page there is."""
    return (SIGN_IN, *_PAGES)


def pages_of(person: Person | None) -> list[Entry]:
    """Return the pages somebody may see, in the menu's order; whoever is signed out signs in."""
    if person is None:
        return [SIGN_IN]
    chooses = person.several or person.deployment or person.study is None
    return [
        one for one in _PAGES if one.act and person.may(one.act) and (one is not STUDIES or chooses)
    ]


def home_of(person: Person | None) -> Entry:
    """Return where somebody begins: in the study they are in, or among those they may choose."""
    entries = pages_of(person)
    if person is None or person.study is None:
        return entries[0]
    return next((one for one in entries if one is not STUDIES), entries[0])


def page_file(name: str) -> Path:
    """Return where a page's file is, for `st.switch_page`."""
    return Path(__file__).parents[2] / "pages" / name
