"""What is true of a whole deployment: its id, its secret, its marks."""

from study.store.connection import Transaction


def value(look: Transaction, name: str) -> str:
    """Return a deployment's value; empty where it was never set."""
    return str(look.value("SELECT value FROM deployment WHERE name = :name", name=name) or "")


def set_once(change: Transaction, name: str, new: str) -> None:
    """Set a value that was not set before."""
    change.execute(
        "INSERT INTO deployment (name, value) VALUES (:name, :new) ON CONFLICT DO NOTHING",
        name=name,
        new=new,
    )


def set_value(change: Transaction, name: str, new: str) -> None:
    """Set a value, whether it was set before or not."""
    change.execute(
        "INSERT INTO deployment (name, value) VALUES (:name, :new) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        name=name,
        new=new,
    )
