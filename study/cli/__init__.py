"""The coordinator's command line, ``python -m study``; every module adds its commands."""

from study.cli import bank, closing, commands, copies, models, verify
from study.cli.program import main

__all__ = ["bank", "closing", "commands", "copies", "main", "models", "verify"]
