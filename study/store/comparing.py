"""Comparing texts within SQL: the functions a connection gets, and the expressions that call them.

No index and no trigger of the store may call them, so that any SQLite program can open a store.
"""

import sqlite3

from study.base.text import id_key, text_key


def register(connection: sqlite3.Connection) -> None:
    """Let a connection's statements call `id_key` and `text_key`."""
    for function in (id_key, text_key):
        connection.create_function(function.__name__, 1, function, deterministic=True)


def compared_id(column: str) -> str:
    """Return the SQL for the form in which the ids of a column are compared.

    Ids of printable ASCII without blanks, as nearly all are, do not leave SQLite.
    """
    return f"(CASE WHEN {column} GLOB '*[^!-~]*' THEN id_key({column}) ELSE {column} END)"
