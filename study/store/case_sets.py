"""The two case sets of a study in the store: its cases, and practice cases outside its sample.

Each has tables of its own, so that no count or export of the study can take practice for its cases.
What is done to both is written once, for a case set.
"""

from dataclasses import dataclass

from study.store.events import EventKind


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSet:
    """Where a case set is kept; `cases`, `assignments` and so on read both sets in one shape.

    Parameters
    ----------
    tables
        What its tables' names begin with.
    case
        The column by which an assignment names its case.
    listed
        What the hash of a reader's list covers.
    purpose
        Stands in what an assignment's id is made of, and keeps the sets' ids apart.
    """

    tables: str
    case: str
    listed: tuple[str, ...]
    purpose: str
    cases: str
    assignments: str
    presentations: str
    readings: str
    read: EventKind


_LISTED = ("id", "position", "item_id", "condition", "shown_order")

STUDY = CaseSet(
    tables="",
    case="case_id",
    listed=(*_LISTED, "session", "repeat"),
    purpose="assignment",
    cases="cases",
    assignments="assignments",
    presentations="presentations",
    readings="readings",
    read=EventKind.CASE_READ,
)

PRACTICE = CaseSet(
    tables="practice_",
    case="practice_case",
    listed=_LISTED,
    purpose="practice",
    cases="(SELECT *, '' AS stratum FROM practice_cases)",
    assignments="(SELECT *, practice_case AS case_id, 1 AS session, 1 AS repeat "
    "FROM practice_assignments)",
    presentations="(SELECT NULL AS assignment LIMIT 0)",
    readings="(SELECT *, NULL AS supersedes FROM practice_readings)",
    read=EventKind.PRACTICE_CASE_READ,
)
