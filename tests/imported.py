"""What a program of ours imports sooner or later, all at once: a process to fork has it all."""

import gc
from importlib import import_module
from pkgutil import walk_packages

import analysis
import study
import ui

SERVERS = ("streamlit.web.bootstrap", "streamlit.web.cli", "uvicorn")
SCRIPTS = ("ui.main", "study.__main__", "analysis.__main__")
"""Run, not imported."""

for name in SERVERS:
    import_module(name)
for package in (study, analysis, ui):
    for module in walk_packages(package.__path__, f"{package.__name__}."):
        if module.name not in SCRIPTS:
            import_module(module.name)
gc.collect()
gc.freeze()
