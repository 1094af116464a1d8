"""The coordinator's command line, ``python -m study``; every module adds its commands."""

from study.cli.program import main

__all__ = ["main"]
