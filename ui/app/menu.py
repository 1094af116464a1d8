"""Which pages there are, and what somebody must be allowed to do to see one."""

from dataclasses import dataclass
from pathlib import Path

from study.base.translation import later
from study.people.roles import Act
from study.people.signing_in import Person


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A page: its file, its title marked for the catalogue, its address, the act it is for.

    One of a study stands in the study's bar; a hidden one is led to from other pages and stands
    nowhere; the others are the menu on top. A bare one is covered by the reading component, and
    keeps the staff's styles off it.
    """

    file: str
    title: str
    path: str
    act: Act | None
    of_study: bool = False
    hidden: bool = False
    bare: bool = False


STUDIES = Entry(file="studies.py", title=later("Studies"), path="studies", act=Act.CHOOSE)
SIGN_IN = Entry(file="sign_in.py", title=later("Sign in"), path="sign-in-page", act=None)
OVERVIEW = Entry(
    file="overview.py",
    title=later("Progress"),
    path="overview",
    act=Act.WATCH,
    of_study=True,
)
SET_UP = Entry(
    file="set_up.py", title=later("Protocol"), path="set-up", act=Act.SET_UP, of_study=True
)
PEOPLE = Entry(
    file="people.py", title=later("People"), path="people", act=Act.PEOPLE, of_study=True
)
RESULTS = Entry(
    file="results.py", title=later("Results"), path="results", act=Act.RESULTS, of_study=True
)
ARCHIVE = Entry(
    file="archive.py",
    title=later("Close and export"),
    path="archive",
    act=Act.EXPORT,
    of_study=True,
)
REVIEWS = Entry(
    file="reviews.py", title=later("Expert review"), path="reviews", act=Act.REVIEW, hidden=True
)
_PAGES = (
    STUDIES,
    Entry(file="banks.py", title=later("Question banks"), path="banks", act=Act.MAKE_STUDY),
    Entry(
        file="deployment.py",
        title=later("Administration"),
        path="deployment",
        act=Act.DEPLOYMENT,
    ),
    Entry(file="read.py", title=later("Reading page"), path="read", act=Act.READ, bare=True),
    SET_UP,
    PEOPLE,
    OVERVIEW,
    Entry(file="models.py", title=later("Models"), path="models", act=Act.MODELS, of_study=True),
    RESULTS,
    ARCHIVE,
    Entry(file="trail.py", title=later("Audit trail"), path="trail", act=Act.TRAIL, of_study=True),
    Entry(
        file="new_study.py",
        title=later("New study"),
        path="new-study",
        act=Act.MAKE_STUDY,
        hidden=True,
    ),
    Entry(
        file="score_card.py",
        title=later("Score card"),
        path="score-card",
        act=Act.READ,
        hidden=True,
    ),
    Entry(
        file="leaderboard.py",
        title=later("Leaderboard"),
        path="leaderboard",
        act=Act.RESULTS,
        hidden=True,
    ),
    Entry(
        file="explore.py",
        title=later("Questions of a bank"),
        path="explore",
        act=Act.MAKE_STUDY,
        hidden=True,
    ),
    Entry(
        file="bank_review.py",
        title=later("Expert review of a bank"),
        path="bank-review",
        act=Act.MAKE_STUDY,
        hidden=True,
    ),
    REVIEWS,
    Entry(
        file="review.py",
        title=later("Questions to review"),
        path="review",
        act=Act.REVIEW,
        hidden=True,
        bare=True,
    ),
    Entry(
        file="scoring.py",
        title=later("Scoring"),
        path="scoring",
        act=Act.CLOSE,
        hidden=True,
    ),
    Entry(
        file="teaching.py",
        title=later("Teaching"),
        path="teaching",
        act=Act.CHOOSE,
        hidden=True,
    ),
    Entry(
        file="teach.py",
        title=later("Teaching cases"),
        path="teach",
        act=Act.CHOOSE,
        hidden=True,
        bare=True,
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
    only_reviews = person.may(Act.REVIEW) and not person.may(Act.MAKE_STUDY)
    chooses = person.several or not (only_reviews or (person.study and not person.deployment))
    return [
        one for one in _PAGES if one.act and person.may(one.act) and (one is not STUDIES or chooses)
    ]


def home_of(person: Person | None) -> Entry:
    """Return where somebody begins: in the study they are in, or among those they may choose."""
    entries = pages_of(person)
    if person is None or person.study is None:
        return entries[0]
    if OVERVIEW in entries:
        return OVERVIEW
    return next((one for one in entries if one.of_study or one.act is Act.READ), entries[0])


def page_file(name: str) -> Path:
    """Return where a page's file is, for `st.switch_page`."""
    return Path(__file__).parents[2] / "pages" / name
