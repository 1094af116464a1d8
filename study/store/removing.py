"""Deletes the rows of a closed study, its people, or a withdrawn model.

Triggers (`schema.REMOVED_WITH_STUDY`) refuse to delete these rows while the study exists, and
refuse to delete a study that was opened and not closed.
"""

from study.store import events
from study.store.connection import Transaction

_READERS = "(SELECT id FROM readers WHERE study = :study)"
_CASES = "(SELECT id FROM cases WHERE study = :study)"
_MODELS = "(SELECT id FROM models WHERE study = :study)"
_GRANTS = "(SELECT id FROM grants WHERE study = :study)"
_SCORINGS = "(SELECT id FROM scorings WHERE study = :study)"
_ASSIGNMENTS = f"(SELECT id FROM assignments WHERE reader IN {_READERS})"
_PRACTICE = f"(SELECT id FROM practice_assignments WHERE reader IN {_READERS})"
_READINGS = f"(SELECT id FROM readings WHERE assignment IN {_ASSIGNMENTS})"

_ROWS_OF_STUDY = (
    *((table, f"reading IN {_READINGS}") for table in ("exclusions", "reasons")),
    *((table, f"assignment IN {_ASSIGNMENTS}") for table in ("aid_requests", "readings")),
    ("presentations", f"assignment IN {_ASSIGNMENTS}"),
    ("assignments", f"reader IN {_READERS}"),
    ("practice_readings", f"assignment IN {_PRACTICE}"),
    ("practice_assignments", f"reader IN {_READERS}"),
    ("preparations", f"reader IN {_READERS}"),
    *((table, f"model IN {_MODELS}") for table in ("predictions", "withdrawn_models")),
    *((table, f"scoring IN {_SCORINGS}") for table in ("scores", "scoring_ends", "scorers")),
    *((table, f"scoring IN {_SCORINGS}") for table in ("scoring_answers", "scoring_cases")),
    *((table, f"case_id IN {_CASES}") for table in ("wrong_images", "aids")),
    ("group_grants", f"grant_id IN {_GRANTS}"),
    *((table, "study = :study") for table in ("practice_cases", "cases", "models", "scorings")),
    *((table, "study = :study") for table in ("amendments", "interventions", "grants", "readers")),
)
"""A study's tables and the conditions for its rows, ordered so that references stay valid."""

_READERS_OF_THIS_STUDY_ONLY = (
    "SELECT DISTINCT person FROM grants WHERE study = :study EXCEPT "
    "SELECT person FROM grants WHERE study IS NOT :study EXCEPT "
    "SELECT person FROM teaching_answers EXCEPT SELECT person FROM reviewers EXCEPT "
    "SELECT person FROM review_verdicts EXCEPT SELECT made_by FROM drafts EXCEPT "
    "SELECT person FROM scorers WHERE person IS NOT NULL "
    f"AND scoring NOT IN {_SCORINGS}"
)
_TABLES_OF_A_PERSON = (
    *("names", "codes", "sign_ins", "identities", "tickets", "second_factors", "recovery_codes"),
)


def chains_of(look: Transaction, study_name: str) -> list[str]:
    """Return the names of a study's chain and of the chains of its merged sites."""
    own_chain = events.study_chain(study_name)
    return [
        chain
        for chain in events.chains(look)
        if chain == own_chain or chain.startswith(f"{own_chain}#")
    ]


def remove_study(change: Transaction, study: int, study_name: str) -> dict[str, int]:
    """Delete a study, its people and its chains; return the number of rows by table.

    People who have or had a role elsewhere are not deleted. The commit fails if a row refers to a
    deleted row.
    """
    chains = chains_of(change, study_name)
    change.execute("PRAGMA defer_foreign_keys = ON")
    people = [row["person"] for row in change.rows(_READERS_OF_THIS_STUDY_ONLY, study=study)]
    change.execute(
        "UPDATE sign_ins SET study = NULL, grant_id = NULL "
        f"WHERE study = :study OR grant_id IN {_GRANTS}",
        study=study,
    )
    counts = {"studies": change.execute("DELETE FROM studies WHERE id = :study", study=study)}
    for table, condition in _ROWS_OF_STUDY:
        counts[table] = change.execute(f"DELETE FROM {table} WHERE {condition}", study=study)
    for person in people:
        for table in _TABLES_OF_A_PERSON:
            change.execute(f"DELETE FROM {table} WHERE person = :person", person=person)
        change.execute("DELETE FROM people WHERE id = :person", person=person)
    counts["people"] = len(people)
    counts["events"] = 0
    for chain in chains:
        counts["events"] += change.execute("DELETE FROM events WHERE chain = :chain", chain=chain)
        change.execute("DELETE FROM chain_heads WHERE chain = :chain", chain=chain)
    return {table: n for table, n in counts.items() if n}


def remove_predictions(change: Transaction, model: int) -> int:
    """Delete the predictions of a withdrawn model, and return their number."""
    return change.execute("DELETE FROM predictions WHERE model = :model", model=model)
