"""The coordinator's command line, ``python -m study``; every module adds its commands."""

from study.cli import closing, commands, copies, models, verify
from study.cli.program import main

__all__ = ["closing", "commands", "copies", "main", "models", "verify"]
