"""Benchmarks: each measures one promise and prints the result next to its target, as text or JSON.

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
"""The benchmarks in the order of the list; all but one have the name of their module."""

MODULES = {"import": "importing"}
