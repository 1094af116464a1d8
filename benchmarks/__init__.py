"""Benchmarks, each of which measures a promise and prints the result with its target.

A benchmark is a module of this package with ``DESCRIPTION``, ``SMALLEST`` (the options of its
smallest run, used by a test), ``add_arguments(parser)``, ``run(args)`` returning plain data, and
``text(result)``. A missed target is reported and does not raise an error.
"""

NAMES = (
    "reading",
    "answers",
    "pages",
    "import",
    "timer",
    "frames",
    "kappas",
    "report",
    "coverage",
    "power",
    "models",
    "uploads",
    "load",
)
"""The names of the benchmarks in the order in which they are listed."""

MODULES = {"import": "importing"}
"""Modules that do not have the name of their benchmark."""
