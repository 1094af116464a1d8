"""The coordinator's command line, ``python -m study``; every module adds its commands."""

from study.cli import archive, bank, judging, models, studies
from study.cli.program import main

__all__ = ["archive", "bank", "judging", "main", "models", "studies"]
