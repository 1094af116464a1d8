"""Every benchmark runs to its end at its smallest size."""

import json
from importlib import import_module, util
from pathlib import Path
from pkgutil import iter_modules

import pytest

import benchmarks
from benchmarks.__main__ import main

IN_A_BROWSER = {"reading", "pages", "timer", "frames", "uploads"}


def _module(name: str) -> str:
    return benchmarks.MODULES.get(name, name)


def test_every_benchmark_has_a_command() -> None:
    names = [module.name for module in iter_modules(benchmarks.__path__)]
    described = {name for name in names if _is_described(name)}
    assert {_module(name) for name in benchmarks.NAMES} == described


def _is_described(name: str) -> bool:
    """Read the file: some modules are programs that need settings when they are imported."""
    text = Path(str(benchmarks.__file__)).with_name(f"{name}.py").read_text("utf-8")
    return "\nDESCRIPTION = " in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.browser if name in IN_A_BROWSER else ())
        for name in benchmarks.NAMES
    ],
)
def test_the_smallest_run_measures_something(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "models" and util.find_spec("inspect_ai") is None:
        pytest.skip("needs requirements-models.txt")
    module, out = import_module(f"benchmarks.{_module(name)}"), tmp_path / "result.json"
    assert main([name, "--out", str(out), *module.SMALLEST.split()]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out.strip()
    result = json.loads(out.read_text("utf-8"))
    for each in result.get("bars", []):
        assert each["met"] is not None, each
