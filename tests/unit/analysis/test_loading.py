"""What a command imports before it starts, and what a kept process imports in advance."""

import subprocess
import sys

import pytest

LATE = ("matplotlib", "plotly.graph_objs._figure", "scipy.optimize", "scipy.stats", "statsmodels")


def _loaded(program: str) -> list[str]:
    command = f"import sys\n{program}\nprint(*sorted(set({LATE}) & sys.modules.keys()))"
    result = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True
    )
    return result.stdout.split()


@pytest.mark.slow
def test_a_command_starts_without_the_packages_of_a_few_statistics_and_of_figures() -> None:
    """Importing them takes as long as importing everything else."""
    assert _loaded("import analysis.cli") == []


@pytest.mark.slow
def test_the_agreement_of_raters_does_not_import_the_packages_of_other_statistics() -> None:
    """A process that computes only these tables would wait for them."""
    program = (
        "from analysis.options import Options\n"
        "from analysis.registry import IN_SECOND_PROCESS, STATISTICS\n"
        "from analysis.statistics.study import Study\n"
        "from tests.unit.analysis.report.full_run import study\n"
        "run = Study(study(n_readers=2, n_models=2, n_items=12), Options(bootstrap=20))\n"
        "for statistic in STATISTICS:\n"
        "    if statistic.name in IN_SECOND_PROCESS:\n"
        "        assert len(run.table(statistic.compute)), statistic.name\n"
    )
    assert _loaded(program) == []


@pytest.mark.slow
def test_a_kept_process_imports_them_in_advance() -> None:
    """The first analysis of a server does not wait for them."""
    program = (
        "from importlib import import_module\n"
        "from ui.results import background\n"
        "import_module(background._LOADED)"
    )
    assert {"matplotlib", "scipy.stats", "statsmodels"} <= set(_loaded(program))
