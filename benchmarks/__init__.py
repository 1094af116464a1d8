"""Benchmarks: each measures one promise and prints it beside its bar, as text and as JSON.

A benchmark is a module of this package with ``DESCRIPTION``, ``SMALLEST`` (the options of its
smallest run, which a test makes), ``add_arguments(parser)``, ``run(args)`` returning plain data,
and ``text(result)``. It never asserts: a bar is met or not met.
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
    "models",
    "uploads",
)
"""The benchmarks, in the order they are listed; each is the module of its name but one."""

MODULES = {"import": "importing"}
