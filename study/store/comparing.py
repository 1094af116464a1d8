"""Comparing texts within SQL: the functions of every connection, and expressions that call them.

No index and no trigger of the store may call them, so that any SQLite program can open a store.
"""

from hashlib import sha256

from study.base.text import id_key, text_key


def compared_id(column: str) -> str:
    """Return the SQL for the form in which the ids of a column are compared.

    Ids of printable ASCII without blanks, as nearly all are, do not leave SQLite.
    """
    return f"(CASE WHEN {column} GLOB '*[^!-~]*' THEN id_key({column}) ELSE {column} END)"


def mark(*texts: str) -> int:
    """Return the number under which something that texts name is found again."""
    digest = sha256("\n".join(texts).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def marks(items: str, films: str) -> str:
    """Return the SQL for what items and films are found again by in other banks, in order.

    A film by its file; a patient and an examination by an id that no other would have by chance, or
    by a short one together with the question or with each other; a question by itself if all of
    these items that ask it are of one examination. An examination that is named after its first
    film because its file names none has no id.

    Parameters
    ----------
    items, films
        Conditions on the rows of these tables.
    """
    of = "(SELECT {} FROM items WHERE " + items + ")"
    by_film = (
        "examination_id GLOB '*.[A-Za-z]*' AND EXISTS (SELECT 1 FROM films WHERE films.bank = "
        "items.bank AND path IN (examination_id, origin || '/' || examination_id))"
    )
    patient = f"{compared_id('patient_id')} AS patient"
    examination = f"iif({by_film}, '', {compared_id('examination_id')}) AS examination"
    question = "text_key(question) AS question"
    parts = [
        f"SELECT mark('film', sha256) AS mark FROM films WHERE {films}",
        "SELECT mark FROM (SELECT mark('question', question) AS mark, min(examination_id) AS least,"
        f" max(examination_id) AS most FROM {of.format(f'{question}, examination_id')} GROUP BY 1)"
        " WHERE least = most",
        "SELECT mark('patient', patient, 'examination', examination) FROM "
        f"{of.format(f'{patient}, {examination}')} WHERE patient <> '' AND examination <> '' "
        f"AND NOT ({_IS_LONG.format('patient')} OR {_IS_LONG.format('examination')})",
    ]
    for kind, column in (("patient", patient), ("examination", examination)):
        is_long = _IS_LONG.format(kind)
        parts += [
            f"SELECT mark('{kind}', {kind}) FROM (SELECT DISTINCT {kind} FROM {of.format(column)}) "
            f"WHERE {is_long}",
            f"SELECT mark('{kind}', {kind}, 'question', question) FROM "
            f"{of.format(f'{column}, {question}')} WHERE {kind} <> '' AND NOT {is_long}",
        ]
    return f"SELECT DISTINCT mark FROM ({' UNION ALL '.join(parts)}) ORDER BY mark"


_IS_LONG = "{} GLOB '" + "*[0-9]" * 6 + "*'"
"""Whether an id has so many digits that two banks do not both have it by chance."""

FUNCTIONS = ((id_key, 1), (text_key, 1), (mark, -1))
"""What every statement can call, with the number of its arguments; -1 for any."""
