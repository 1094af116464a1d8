"""SQL functions that compare texts, and expressions that call them.

No index or trigger of the store may call them, so that any SQLite program can open a store.
"""

from hashlib import sha256

from study.base.text import id_key, text_key


def compared_id(column: str) -> str:
    """Return the SQL for the form in which the ids of a column are compared.

    Nearly all ids are printable ASCII without spaces; for these, no Python function is called.
    """
    return f"(CASE WHEN {column} GLOB '*[^!-~]*' THEN id_key({column}) ELSE {column} END)"


def mark(*texts: str) -> int:
    """Return a number that identifies an object by these texts."""
    digest = sha256("\n".join(texts).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def marks(items: str, films: str) -> str:
    """Return the SQL for the marks by which items and films are recognised in other banks.

    A film is recognised by its file; a patient or examination by an id too long to occur twice by
    chance, or by a short id together with the question, or by both short ids together; a question
    alone if all items with it belong to one examination. An examination that has no id in the file,
    and is named after its first film, has no mark.

    Parameters
    ----------
    items, films
        Conditions on the rows of these tables.
    """
    by_film = (
        "examination_id GLOB '*.[A-Za-z]*' AND EXISTS (SELECT 1 FROM films WHERE films.bank = "
        "items.bank AND path IN (examination_id, origin || '/' || examination_id))"
    )
    mark_names = (
        f"SELECT DISTINCT patient_id, examination_id, {compared_id('patient_id')} AS patient, "
        f"iif({by_film}, '', {compared_id('examination_id')}) AS examination "
        f"FROM items WHERE {items}"
    )
    parts = [
        f"SELECT mark('film', sha256) AS mark FROM films WHERE {films}",
        "SELECT mark('question', asked) FROM (SELECT asked, min(examination_id) AS least, "
        "max(examination_id) AS most FROM questions GROUP BY asked) AS by_question "
        "WHERE least = most",
        "SELECT mark('patient', patient, 'examination', examination) FROM named "
        f"WHERE {_is_short('patient')} AND {_is_short('examination')}",
    ]
    for kind in ("patient", "examination"):
        column = f"{kind}_id"
        parts += [
            f"SELECT mark('{kind}', {kind}) FROM (SELECT DISTINCT {kind} FROM named "
            f"WHERE {kind} {_IS_LONG})",
            f"SELECT mark('{kind}', {compared_id(column)}, 'question', asked) "
            f"FROM questions WHERE {column} IN "
            f"(SELECT {column} FROM named WHERE {_is_short(kind)})",
        ]
    return (
        f"WITH named AS MATERIALIZED ({mark_names}), questions AS MATERIALIZED "
        "(SELECT patient_id, examination_id, text_key(question) AS asked "
        f"FROM items WHERE {items}) "
        f"SELECT DISTINCT mark FROM ({' UNION ALL '.join(parts)}) ORDER BY mark"
    )


_IS_LONG = "GLOB '" + "*[0-9]" * 6 + "*'"
"""The SQL condition that an id has too many digits to occur in two banks by chance."""


def _is_short(column: str) -> str:
    return f"({column} <> '' AND NOT {column} {_IS_LONG})"


FUNCTIONS = ((id_key, 1), (text_key, 1), (mark, -1))
"""The SQL functions, each with its number of arguments; -1 for any."""
