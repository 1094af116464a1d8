"""The store: one SQLite file a deployment, and the only place in the project that speaks SQL.

`connection` opens it and holds transactions; `schema` is its shape as numbered migrations; the
other modules are the verbs on one kind of thing each (banks, studies, people, readings, models,
events). A second engine would stand behind these same functions.
"""

from study.store.connection import SEALED_TABLES, Store, Transaction

__all__ = ["SEALED_TABLES", "Store", "Transaction"]
