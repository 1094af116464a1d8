"""The complete report at ReXVQA's full size: time and memory, compared with a short script.

`python -m analysis` runs as a separate program on a bundle in the format of an export. The script
(`naive_report.py`) reads the same files with pandas and prints accuracies and the kappas of
scikit-learn's loop, without standard errors, intervals, tasks, checks or a page.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.bundles import Size, simulate_bundle
from benchmarks.machine import Broken
from benchmarks.summary import bar_lines, target

DESCRIPTION = "the whole report of 11 raters on 40,826 items: time and memory"
SMALLEST = "--readers 2 --models 2 --items 40 --patients 20 --bootstrap 20 --repeats 1"
LONGEST_S = 30.0
MOST_MB = 2_000.0
_ROOT = Path(__file__).parent.parent


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's own options."""
    parser.add_argument("--readers", type=int, default=3)
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument("--items", type=int, default=40_826)
    parser.add_argument("--patients", type=int, default=10_000)
    parser.add_argument("--bootstrap", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=3, help="how often each is run")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure the programs in turn; return their costs."""
    size = Size(readers=args.readers, models=args.models, items=args.items, patients=args.patients)
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        folder = simulate_bundle(size).write(place / "bundle")
        words = _programs(folder, place, args.bootstrap)
        costs: dict[str, list[dict[str, float]]] = {name: [] for name in words}
        for _ in range(args.repeats):
            for name, program in words.items():
                print(f"report: {name}", file=sys.stderr)
                costs[name].append(measured(program))
        n_bytes = sum(path.stat().st_size for path in (place / "report").rglob("*"))
        read = sum(path.stat().st_size for path in folder.iterdir())
    rows = {name: typical(each) for name, each in costs.items()}
    return {
        "readers": args.readers,
        "models": args.models,
        "items": args.items,
        "patients": args.patients,
        "bootstrap": args.bootstrap,
        "processors": os.cpu_count(),
        "read_mb": round(read / 1e6, 1),
        "written_mb": round(n_bytes / 1e6, 1),
        "rows": rows,
        "ratios_to_script": {
            name: {key: round(row[key] / rows["script"][key], 2) for key in row}
            for name, row in rows.items()
        },
        "bars": [
            target("report, wall clock", rows["report"]["wall_s"], LONGEST_S, "s"),
            target("report, most memory", rows["report"]["peak_mb"], MOST_MB, "MB"),
        ],
    }


def text(result: Mapping[str, Any]) -> str:
    """Return the result as lines."""
    lines = [
        f"{result['readers']} readers, {result['models']} models, {result['items']:,} items,"
        f" {result['patients']:,} patients, {result['bootstrap']:,} resamples;"
        f" {result['processors']} processors",
        f"read {result['read_mb']} MB, wrote {result['written_mb']} MB",
        "",
        "                wall s    CPU s   peak MB   ratio to the script: wall, CPU, peak",
    ]
    for name, row in result["rows"].items():
        ratios = result["ratios_to_script"][name]
        lines.append(
            f"  {name:10s} {row['wall_s']:9.1f} {row['cpu_s']:8.1f} {row['peak_mb']:9.0f}"
            f"   {ratios['wall_s']:g}, {ratios['cpu_s']:g}, {ratios['peak_mb']:g}"
        )
    return "\n".join([*lines, "", *bar_lines(result["bars"])])


def measured(program: Sequence[str]) -> dict[str, float]:
    """Run a program; return its wall-clock time, processor time and peak memory.

    Raises
    ------
    Broken
        The program failed.
    """
    launcher = str(Path(__file__).with_name("launch.py"))
    process = subprocess.run(
        [sys.executable, launcher, *program], cwd=_ROOT, capture_output=True, text=True, check=False
    )
    if process.returncode:
        message = process.stderr[-2_000:]
        raise Broken(f"{' '.join(program[:4])} ended with {process.returncode}: {message}")
    return dict(json.loads(process.stdout))


def typical(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the medians of the times and the largest memory."""
    return {
        "wall_s": round(statistics.median(run["wall_s"] for run in runs), 2),
        "cpu_s": round(statistics.median(run["cpu_s"] for run in runs), 2),
        "peak_mb": round(max(run["peak_mb"] for run in runs), 1),
    }


def _programs(folder: Path, place: Path, bootstrap: int) -> dict[str, list[str]]:
    arguments = ["--bootstrap", str(bootstrap)]
    report_command = {
        name: [
            *(sys.executable, "-m", "analysis", name, str(folder)),
            *("--out", str(place / name), *arguments),
        ]
        for name in ("report", "tables")
    }
    return {
        **report_command,
        "script": [sys.executable, "-m", "benchmarks.naive_report", str(folder)],
    }
