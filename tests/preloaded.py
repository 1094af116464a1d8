"""Import everything the programs use, in the process that `tests.processes` forks."""

import gc
import inspect
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.metadata import packages_distributions
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from unittest.mock import patch

from streamlit.components.v2 import manifest_scanner

import analysis
import study
import ui
from study.base import translation
from study.models.answer_parser import parse_answer
from tests.page_runs import analysed as analysed
from ui.viewer import MODULES, used_messages

ROOT = Path(__file__).parents[1]


class HiddenTestPackages:
    """An import hook that hides packages required only by tests.

    An installation does not have these packages, so a program that needs one of them fails in tests
    too. A program that loads a benchmark, or a model from a test, can import all packages.
    """

    def __init__(self) -> None:
        tested, required = (_locked_packages(f"requirements{name}.lock") for name in ("-test", ""))
        self._hidden = {
            module
            for module, names in packages_distributions().items()
            if (owners := {_normalised_name(name) for name in names}) <= tested
            and not owners & required
        }

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse a hidden module, and leave all others to the next finder."""
        if name.startswith(("benchmarks.", "tests.")):
            self._hidden = set()
        if name.partition(".")[0] in self._hidden:
            raise ModuleNotFoundError(f"{name} is not in requirements.lock", name=name)
        return None


def _normalised_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _locked_packages(lock: str) -> set[str]:
    text = (ROOT / lock).read_text("utf-8")
    return {_normalised_name(name) for name in re.findall(r"^([\w.-]+)==", text, re.MULTILINE)}


SERVERS = ("streamlit.web.bootstrap", "streamlit.web.cli", "uvicorn")
SCRIPTS = ("ui.app.router", "study.__main__", "analysis.__main__")
"""Modules that are run as scripts and never imported."""

for name in SERVERS:
    import_module(name)
manifest_scanner.scan_component_manifests()
for package in (study, analysis, ui):
    for module in walk_packages(package.__path__, f"{package.__name__}."):
        if module.name not in SCRIPTS:
            import_module(module.name)
used_messages(MODULES)  # reads every module of the reading page
for language in translation.languages():  # reads each catalogue once
    translation.catalogue_messages(language, ())
    with translation.in_language(language):
        translation.translated("Continue")
translation.folder.cache_clear()
# This call compiles the patterns that most outputs of models need.
parse_answer("Not B, because there is no effusion. The answer is A.", ["Pneumothorax", "Effusion"])
# A server loads the analysis in advance for the results page, which most tests do not open.
patch("ui.app.study_bar.preload_analysis").start()
# A server runs analyses and imports at low priority so that they do not delay readers. In tests,
# other tests would take all processor time while a test waits for its analysis.
patch("ui.server.worker.PRIORITY", 0).start()
sys.meta_path.insert(0, HiddenTestPackages())
inspect.stack()  # Streamlit does this once in a process; the first call locates all modules
gc.collect()
gc.freeze()
