"""The store: one database per deployment, and the only package that contains SQL.

`connection` opens the database and provides transactions, `schema` creates its tables; each other
module reads and writes one kind of row (banks, studies, people, readings, models, events). SQL
is written in the dialect of SQLite (`sqlite`); `dialect` translates it for PostgreSQL (`postgres`).
"""

import sys
from importlib import import_module

if "pandas" not in sys.modules:
    # sqlite-utils imports pandas for a type that is not stored; this takes 0.3 s and 60 MB.
    sys.modules["pandas"] = None  # type: ignore[assignment]
    import_module("sqlite_utils")
    del sys.modules["pandas"]

from study.store.address import is_server
from study.store.connection import Store, Transaction, companion_path
from study.store.schema import SEALED_TABLES

__all__ = ["SEALED_TABLES", "Store", "Transaction", "companion_path", "is_server"]
