"""The version of the program, defined once in ``pyproject.toml``."""

import tomllib
from functools import cache
from pathlib import Path


@cache
def program_version() -> str:
    """Return the version of Reading Room, such as ``1.0.0``."""
    project = Path(__file__).parents[1] / "pyproject.toml"
    return str(tomllib.loads(project.read_text("utf-8"))["project"]["version"])
