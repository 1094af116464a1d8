"""The columns of every table that is made of rows, in order: what ``columns.toml`` says."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

COLUMNS: Mapping[str, list[str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
