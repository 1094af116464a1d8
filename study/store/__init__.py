"""The store: one SQLite file per deployment, and the only package that contains SQL.

`connection` opens the file and provides transactions, `schema` creates its tables; each other
module reads and writes one kind of row (banks, studies, people, readings, models, events). A
second database engine would be used through the same functions.
"""

from study.store.connection import SEALED_TABLES, Store, Transaction

__all__ = ["SEALED_TABLES", "Store", "Transaction"]
