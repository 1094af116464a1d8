"""What a program of ours imports sooner or later, all at once: a process to fork has it all."""

import gc
import inspect
from importlib import import_module
from pkgutil import walk_packages
from unittest.mock import patch

from streamlit.components.v2 import manifest_scanner

import analysis
import study
import ui
from study.base import translation
from tests.page_runs import analysed as analysed
from ui.viewer import MODULES, wanted

SERVERS = ("streamlit.web.bootstrap", "streamlit.web.cli", "uvicorn")
SCRIPTS = ("ui.app.router", "study.__main__", "analysis.__main__")
"""Run, not imported."""

for name in SERVERS:
    import_module(name)
manifest_scanner.scan_component_manifests()
for package in (study, analysis, ui):
    for module in walk_packages(package.__path__, f"{package.__name__}."):
        if module.name not in SCRIPTS:
            import_module(module.name)
wanted(MODULES)  # reads every module of the reading page
for language in translation.languages():  # the files are read once, wherever they are looked for
    translation.table(language, ())
    with translation.spoken(language):
        translation.said("Continue")
translation.folder.cache_clear()
# It loads the analysis before somebody looks at results, which in most tests nobody does.
patch("ui.app.study_bar.warm_up").start()
# An analysis or import makes way for readers; a test that waits for it is the only reader there is,
# and the other tests would have all of the machine.
patch("ui.server.worker.PRIORITY", 0).start()
inspect.stack()  # as Streamlit does once in a process; most of it is knowing where modules lie
gc.collect()
gc.freeze()
