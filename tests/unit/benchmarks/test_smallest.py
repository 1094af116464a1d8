"""Every benchmark completes at its smallest size."""

import json
from importlib import import_module, util
from pathlib import Path
from pkgutil import iter_modules

import pytest

import benchmarks
from tests.processes import run

BROWSER_BENCHMARKS = {"reading", "pages", "timer", "frames", "uploads"}


def _benchmark_module(name: str) -> str:
    return benchmarks.MODULES.get(name, name)


def test_every_benchmark_has_a_command() -> None:
    names = [module.name for module in iter_modules(benchmarks.__path__)]
    described = {name for name in names if _is_described(name)}
    assert {_benchmark_module(name) for name in benchmarks.NAMES} == described


def _is_described(name: str) -> bool:
    """Return whether the file has a description, without importing it."""
    text = Path(str(benchmarks.__file__)).with_name(f"{name}.py").read_text("utf-8")
    return "\nDESCRIPTION = " in text


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.browser if name in BROWSER_BENCHMARKS else ())
        for name in benchmarks.NAMES
    ],
)
def test_the_smallest_run_of_a_benchmark_has_results(name: str, tmp_path: Path) -> None:
    """It runs in a separate process, because browser tests leave an event loop running."""
    if name == "models" and util.find_spec("inspect_ai") is None:
        pytest.skip("needs requirements-models.txt")
    module, out = import_module(f"benchmarks.{_benchmark_module(name)}"), tmp_path / "result.json"
    ended = run("benchmarks", name, "--out", str(out), *module.SMALLEST.split())
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip()
    result = json.loads(out.read_text("utf-8"))
    bars = result.get("bars", [])
    assert not bars or any(each["met"] is not None for each in bars), bars
