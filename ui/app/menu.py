"""Lists the pages and the permission that each page needs."""

from dataclasses import dataclass
from pathlib import Path

from study.base.translation import later
from study.people.roles import Act
from study.people.signing_in import Person


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A page: its address, its title marked for translation, and the permission it needs.

    Pages of a study are in the study's bar; hidden pages are linked only from other pages; the
    others are in the menu at the top. A page with `shows_study_bar` has that bar although it is not
    a page of the study. A bare page is covered by the reading component and does not load staff
    styles.
    """

    path: str
    title: str
    act: Act | None
    of_study: bool = False
    hidden: bool = False
    is_bare: bool = False
    shows_study_bar: bool = False

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.path.removesuffix('-page').replace('-', '_')}.py"


STUDIES = Entry(path="studies", title=later("Studies"), act=Act.CHOOSE, shows_study_bar=True)
SIGN_IN = Entry(path="sign-in-page", title=later("Sign in"), act=None)
OVERVIEW = Entry(path="overview", title=later("Progress"), act=Act.WATCH, of_study=True)
SET_UP = Entry(path="set-up", title=later("Protocol"), act=Act.SET_UP, of_study=True)
PEOPLE = Entry(path="people", title=later("People"), act=Act.PEOPLE, of_study=True)
RESULTS = Entry(path="results", title=later("Results"), act=Act.RESULTS, of_study=True)
ARCHIVE = Entry(path="archive", title=later("Close and export"), act=Act.EXPORT, of_study=True)
REVIEWS = Entry(path="reviews", title=later("Expert review"), act=Act.REVIEW, hidden=True)
_PAGES = (
    STUDIES,
    Entry(path="banks", title=later("Question banks"), act=Act.MAKE_STUDY),
    Entry(path="deployment", title=later("Administration"), act=Act.DEPLOYMENT),
    Entry(path="read", title=later("Reading page"), act=Act.READ, is_bare=True),
    SET_UP,
    PEOPLE,
    OVERVIEW,
    Entry(path="models", title=later("Models"), act=Act.MODELS, of_study=True),
    RESULTS,
    ARCHIVE,
    Entry(path="trail", title=later("Audit trail"), act=Act.TRAIL, of_study=True),
    Entry(path="new-study", title=later("New study"), act=Act.MAKE_STUDY, hidden=True),
    Entry(path="score-card", title=later("Score card"), act=Act.READ, hidden=True),
    Entry(
        path="leaderboard",
        title=later("Leaderboard"),
        act=Act.RESULTS,
        hidden=True,
        shows_study_bar=True,
    ),
    Entry(path="explore", title=later("Questions of a bank"), act=Act.MAKE_STUDY, hidden=True),
    Entry(
        path="bank-review", title=later("Expert review of a bank"), act=Act.MAKE_STUDY, hidden=True
    ),
    REVIEWS,
    Entry(
        path="review", title=later("Questions to review"), act=Act.REVIEW, hidden=True, is_bare=True
    ),
    Entry(path="second-factor", title=later("Second factor"), act=Act.ACCOUNT, hidden=True),
    Entry(path="scoring", title=later("Scoring"), act=Act.CLOSE, hidden=True, shows_study_bar=True),
    Entry(path="teaching", title=later("Teaching"), act=Act.CHOOSE, hidden=True),
    Entry(path="teach", title=later("Teaching cases"), act=Act.CHOOSE, hidden=True, is_bare=True),
    Entry(path="preview", title=later("Preview"), act=Act.SET_UP, hidden=True, is_bare=True),
    Entry(
        path="preview-draft",
        title=later("Preview of a draft"),
        act=Act.MAKE_STUDY,
        hidden=True,
        is_bare=True,
    ),
)


def every_page() -> tuple[Entry, ...]:
    """Return all pages."""
    return (SIGN_IN, *_PAGES)


def pages_of(person: Person | None) -> list[Entry]:
    """Return the pages that a person may see, in menu order; for None the sign-in page."""
    if person is None:
        return [SIGN_IN]
    only_reviews = person.may(Act.REVIEW) and not person.may(Act.MAKE_STUDY)
    chooses = person.several or not (only_reviews or (person.study and not person.deployment))
    return [
        entry
        for entry in _PAGES
        if entry.act and person.may(entry.act) and (entry is not STUDIES or chooses)
    ]


def home_of(person: Person | None) -> Entry:
    """Return a person's first page: of their study, or the list of the studies they can choose."""
    entries = pages_of(person)
    if person is None or person.study is None:
        return entries[0]
    if OVERVIEW in entries:
        return OVERVIEW
    return next((entry for entry in entries if entry.of_study or entry.act is Act.READ), entries[0])


def page_file(name: str) -> Path:
    """Return the path of a page's file, for `st.switch_page`."""
    return Path(__file__).parents[2] / "pages" / name
