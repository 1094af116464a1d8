"""Comparing texts within SQL: the functions of every connection, and expressions that call them.

No index and no trigger of the store may call them, so that any SQLite program can open a store.
"""

from hashlib import sha256

from study.base.canonical import parsed_json
from study.base.text import id_key, text_key


def id_mark(kind: str, text: str) -> int:
    """Return the number under which an id of a kind, such as a patient, is found again."""
    return _mark(f"{kind}\n{id_key(text)}")


def question_mark(question: str, options: str) -> int:
    """Return the number under which a question is found again, in whatever order its options are.

    >>> question_mark("Is it?", '["Yes","No"]') == question_mark("is  it?", '["no","YES"]')
    True
    """
    texts = (text_key(str(option)) for option in parsed_json(options))
    return _mark("\n".join(["question", text_key(question), *sorted(texts)]))


def _mark(text: str) -> int:
    digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def compared_id(column: str) -> str:
    """Return the SQL for the form in which the ids of a column are compared.

    Ids of printable ASCII without blanks, as nearly all are, do not leave SQLite.
    """
    return f"(CASE WHEN {column} GLOB '*[^!-~]*' THEN id_key({column}) ELSE {column} END)"


FUNCTIONS = ((id_key, 1), (text_key, 1), (id_mark, 2), (question_mark, 2))
"""What every statement can call, with the number of its arguments."""
