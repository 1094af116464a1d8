"""The coordinator's command line, ``python -m study``; every module adds its commands."""

from study.cli import (
    asking,
    bank,
    closing,
    commands,
    copies,
    models,
    papers,
    reviews,
    scorings,
    verify,
)
from study.cli.program import main

__all__ = [
    "asking",
    "bank",
    "closing",
    "commands",
    "copies",
    "main",
    "models",
    "papers",
    "reviews",
    "scorings",
    "verify",
]
