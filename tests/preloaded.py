"""Import everything the programs use, in the process that `tests.processes` forks."""

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
from study.models.answer_parser import parse_answer
from tests.page_runs import analysed as analysed
from ui.viewer import MODULES, wanted

SERVERS = ("streamlit.web.bootstrap", "streamlit.web.cli", "uvicorn")
SCRIPTS = ("ui.app.router", "study.__main__", "analysis.__main__")
"""Scripts: these are run, not imported."""

for name in SERVERS:
    import_module(name)
manifest_scanner.scan_component_manifests()
for package in (study, analysis, ui):
    for module in walk_packages(package.__path__, f"{package.__name__}."):
        if module.name not in SCRIPTS:
            import_module(module.name)
wanted(MODULES)  # reads every module of the reading page
for language in translation.languages():  # the catalogues are read once
    translation.table(language, ())
    with translation.spoken(language):
        translation.said("Continue")
translation.folder.cache_clear()
# The patterns that most outputs of models need are compiled.
parse_answer("Not B, because there is no effusion. The answer is A.", ["Pneumothorax", "Effusion"])
# A server loads the analysis in advance for the results page, which most tests do not open.
patch("ui.app.study_bar.warm_up").start()
# An analysis or import runs at low priority because of readers. A test waits for it, and the other
# tests would take all of the processor time.
patch("ui.server.worker.PRIORITY", 0).start()
inspect.stack()  # Streamlit does this once in a process; the first call locates all modules
gc.collect()
gc.freeze()
