"""What a program of ours imports sooner or later, all at once: a process to fork has it all."""

import gc
import inspect
from importlib import import_module
from pkgutil import walk_packages

import analysis
import study
import ui
from study.words import ENGLISH
from ui.viewer import MODULES
from ui.viewer.words import catalogue

SERVERS = ("streamlit.web.bootstrap", "streamlit.web.cli", "uvicorn")
SCRIPTS = ("ui.main", "study.__main__", "analysis.__main__")
"""Run, not imported."""

for name in SERVERS:
    import_module(name)
for package in (study, analysis, ui):
    for module in walk_packages(package.__path__, f"{package.__name__}."):
        if module.name not in SCRIPTS:
            import_module(module.name)
catalogue(MODULES, ENGLISH)  # every module of the reading page is read for its words, once
inspect.stack()  # as Streamlit does once in a process; most of it is knowing where modules lie
gc.collect()
gc.freeze()
