"""Provides the columns of the bundle's tables from the data dictionary in ``schemas.toml``."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DICTIONARY = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_RESOURCE_OF_KEY = {
    "rater_id": "raters-csv",
    "item_id": "items-csv",
    "answer_id": "open_answers-csv",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table: its name, Frictionless type, description and permitted values."""

    name: str
    type: str = "string"
    description: str
    required: bool = False
    enum: tuple[str, ...] = ()
    seldom: bool = False
    """Whether the column is omitted if it is empty in all rows."""

    def field(self) -> dict[str, Any]:
        """Return the column as a field of a Frictionless table schema."""
        constraints: dict[str, Any] = {}
        if self.required:
            constraints["required"] = True
        if self.enum:
            constraints["enum"] = list(self.enum)
        field: dict[str, Any] = {
            "name": self.name,
            "type": self.type,
            "description": self.description,
        }
        return {**field, "constraints": constraints} if constraints else field


def _column(name: str, entry: Mapping[str, Any]) -> Column:
    entry = entry or _DICTIONARY["shared"][name]
    return Column(name=name, **{**entry, "enum": tuple(entry.get("enum", ()))})


FILES: Mapping[str, tuple[Column, ...]] = {
    file: tuple(_column(name, entry) for name, entry in columns.items())
    for file, columns in _DICTIONARY["columns"].items()
}
"""All tables of a bundle; the first three are always present."""


def columns_in(name: str, rows: Iterable[Mapping[str, Any]]) -> tuple[Column, ...]:
    """Return the columns of a table with these rows."""
    filled = {key for row in rows for key, value in row.items() if value not in (None, "")}
    return tuple(column for column in FILES[name] if not column.seldom or column.name in filled)


def keys_of(name: str) -> dict[str, Any]:
    """Return the primary and foreign keys of a table."""
    primary, foreign = (
        _DICTIONARY["primary_keys"].get(name),
        _DICTIONARY["foreign_keys"].get(name, ()),
    )
    refers = [
        {"fields": [key], "reference": {"resource": _RESOURCE_OF_KEY[key], "fields": [key]}}
        for key in foreign
    ]
    return {
        **({"primaryKey": primary} if primary else {}),
        **({"foreignKeys": refers} if refers else {}),
    }
