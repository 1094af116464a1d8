"""The bundle's tables, column by column, as ``schemas.toml`` says: the dictionary exports carry."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DICTIONARY = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_RESOURCES = {"rater_id": "raters-csv", "item_id": "items-csv", "answer_id": "open_answers-csv"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a table: its name, Frictionless type, meaning and closed set if it has one."""

    name: str
    type: str = "string"
    description: str
    required: bool = False
    enum: tuple[str, ...] = ()
    seldom: bool = False
    """Whether a table in which no row has it is written without it."""

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


def _column(name: str, said: Mapping[str, Any]) -> Column:
    said = said or _DICTIONARY["shared"][name]
    return Column(name=name, **{**said, "enum": tuple(said.get("enum", ()))})


FILES: Mapping[str, tuple[Column, ...]] = {
    file: tuple(_column(name, said) for name, said in columns.items())
    for file, columns in _DICTIONARY["columns"].items()
}
"""Every table a bundle may have; the first three are in each."""


def columns_in(name: str, rows: Iterable[Mapping[str, Any]]) -> tuple[Column, ...]:
    """Return the columns that a table of a name is written with, given its rows."""
    there = {key for row in rows for key, value in row.items() if value not in (None, "")}
    return tuple(column for column in FILES[name] if not column.seldom or column.name in there)


def keys_of(name: str) -> dict[str, Any]:
    """Return what tells a table's rows apart, and what of them refers to another table."""
    primary, foreign = (
        _DICTIONARY["primary_keys"].get(name),
        _DICTIONARY["foreign_keys"].get(name, ()),
    )
    refers = [
        {"fields": [key], "reference": {"resource": _RESOURCES[key], "fields": [key]}}
        for key in foreign
    ]
    return {
        **({"primaryKey": primary} if primary else {}),
        **({"foreignKeys": refers} if refers else {}),
    }
