"""Agreement of a whole group of raters, beside the open programs that estimate it.

The unit is one group's measure over all items, from answers that are arrays already, ours as the
peers': ours with its standard error. Beside it all measures of ours, each with its standard error,
which a peer would need several calls for. A peer that does not finish gets fewer items, and so do
we. Peers that this environment lacks go into a throw-away environment each, and run there as
programs of their own.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis import bundle_from_tables
from analysis.agreement.groups.members import Raters, groups_of
from analysis.agreement.groups.registry import EVERYWHERE, GroupMeasure
from analysis.agreement.groups.scope import Answered, answered, correctness_of, letters_of
from analysis.matrix import ReadingMatrix, reading_matrix
from benchmarks.bundles import Size, Tables, simulated
from benchmarks.clock import in_turn, ratios
from benchmarks.summary import bar, bar_lines

DESCRIPTION = "group agreement beside statsmodels, nltk, irrCAC and krippendorff"
LEAST = 10.0
# Peer -> its pinned packages, and the measures it has.
PACKAGES = {
    "statsmodels": ("statsmodels==0.15.0",),
    "nltk": ("nltk==3.9.1", "numpy"),
    "irrcac": ("irrCAC==0.4.4",),
    "krippendorff": ("krippendorff==0.8.1",),
}
MEASURES = {
    "statsmodels": ("fleiss_kappa",),
    "nltk": ("conger_kappa", "krippendorff_alpha"),
    "irrcac": (
        "fleiss_kappa",
        "conger_kappa",
        "krippendorff_alpha",
        "ac1",
        "brennan_prediger",
    ),
    "krippendorff": ("krippendorff_alpha",),
}
# Peers that need minutes or hours for all items: one of them a Python loop over pairs of raters.
FEWER = {"nltk": 500}
_SCRIPT = Path(__file__).with_name("group_peers.py")
_NAMES = {measure.name.removesuffix("_letters"): measure for measure in EVERYWHERE}

Estimates = dict[str, tuple[float, float]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's own options."""
    parser.add_argument("--items", type=int, default=40_826)
    parser.add_argument("--few", type=int, help="items for the peers that do not finish else")
    parser.add_argument("--raters", type=int, default=11)
    parser.add_argument("--repeats", type=int, default=7, help="how often ours is timed")
    parser.add_argument("--longest", type=float, default=600, help="seconds a peer may take")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure; return our times, each peer's, the ratios and the bars."""
    fewer = {peer: min(args.few or items, args.items) for peer, items in FEWER.items()}
    sizes = sorted({args.items, *fewer.values()}, reverse=True)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        ours = {items: _ours(items, args, Path(scratch)) for items in sizes}
        for peer in PACKAGES:
            items = fewer.get(peer, args.items)
            codes = Path(scratch) / f"{items}.npy"
            found = _peer(peer, codes, Path(scratch) / peer, args.longest)
            rows.extend(row | compared(row, ours[items]) | {"items": items} for row in found)
    return {
        "raters": args.raters,
        "items": args.items,
        "ours": {str(items): times for items, times in ours.items()},
        "peers": rows,
        "bars": bars(rows),
    }


def text(result: Mapping[str, Any]) -> str:
    """Return the result as lines."""
    lines = []
    for items, ours in result["ours"].items():
        each = ", ".join(f"{name} {1e3 * ours[name]['wall_s']:.2f}" for name in _NAMES)
        lines.append(
            f"{result['raters']} raters, {int(items):,} items; ours, each with its standard error,"
            f" ms: {each}; all of them in one call {1e3 * ours['all']['wall_s']:.2f}"
        )
    lines += ["", f"{'':50s} {'s':>9s}  times ours, wall (CPU)   times all of ours, wall (CPU)"]
    for row in result["peers"]:
        name = f"  {row['peer']:14s} {row['measure']:20s} {row['items']:7,} items"
        if row["not_measured"]:
            lines.append(f"{name} not measured: {row['not_measured']}")
        else:
            one, every = row["ratio"], row["ratio_to_all"]
            lines.append(
                f"{name} {row['wall_s']:9.3f}  {one['wall']:g} ({one['cpu']:g})   "
                f"{every['wall']:g} ({every['cpu']:g});"
                f" value {row['value']:.6f}, ours {_shown(row['value_of_ours'])}"
            )
    return "\n".join([*lines, "", *bar_lines(result["bars"])])


def one_scope(tables: Tables) -> Tables:
    """Return the tables as one scope without clusters or gaps, which is all that the peers know."""
    kept = ["item_id", "truth", "n_options"]
    answers = tables.readings["answer"].where(tables.readings["answer"] != "", "A")
    readings = tables.readings[["rater_id", "item_id"]].assign(answer=answers)
    return Tables(items=tables.items[kept], raters=tables.raters, readings=readings)


def as_codes(tables: Tables) -> NDArray[np.int64]:
    """Return the answers as codes, items by raters."""
    letters = tables.readings["answer"].to_numpy(dtype=str)
    return np.searchsorted(list("ABCD"), letters).reshape(len(tables.raters), -1).T


def estimates(matrix: ReadingMatrix, measures: Sequence[GroupMeasure]) -> Estimates:
    """Return each measure's estimate and standard error for all raters over all items."""
    every = np.arange(len(matrix.truth))
    groups = [group for group in groups_of(matrix.columns) if group.raters is Raters.ALL]
    found: dict[bool, Answered] = {}
    for on_correctness in {measure.on_correctness for measure in measures}:
        codes = (correctness_of if on_correctness else letters_of)(matrix, every)
        found[on_correctness] = answered(codes, matrix.n_options, groups, None)[0]
    return {
        measure.name.removesuffix("_letters"): (
            float(measure.estimate(found[measure.on_correctness].sums)),
            measure.standard_error(
                found[measure.on_correctness].ratings, found[measure.on_correctness].sums
            ),
        )
        for measure in measures
    }


def compared(row: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many times our time a peer took, and our value of its measure."""
    if row["not_measured"]:
        return {"ratio": None, "ratio_to_all": None, "value_of_ours": None}
    mine, value = ours[row["measure"]], ours["values"][row["measure"]][0]
    return {
        "ratio": ratios(row, mine),
        "ratio_to_all": ratios(row, ours["all"]),
        "value_of_ours": None if np.isnan(value) else value,
    }


def bars(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each measure the bar of its slowest peer; None where no peer was measured.

    The fastest peer stands beside it where there are several.
    """
    found = []
    for measure in dict.fromkeys(row["measure"] for row in rows):
        of_it = [row["ratio"]["wall"] for row in rows if row["measure"] == measure and row["ratio"]]
        name = f"{measure}, its slowest peer over ours"
        if len(of_it) > 1:
            name += f" (its fastest: {min(of_it):g})"
        found.append(bar(name, max(of_it, default=None), LEAST, "times", at_least=True))
    return found


def _ours(items: int, args: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """Time each measure of ours and all of them; leave the same answers for the peers."""
    readers = min(3, args.raters - 1)
    size = Size(readers=readers, models=args.raters - readers, items=items, patients=items)
    tables = one_scope(simulated(size))
    np.save(scratch / f"{items}.npy", as_codes(tables))
    matrix = reading_matrix(bundle_from_tables(tables.items, tables.readings, tables.raters))
    ways = {name: partial(estimates, matrix, [measure]) for name, measure in _NAMES.items()}
    times = in_turn(ways | {"all": partial(estimates, matrix, EVERYWHERE)}, args.repeats)
    values = times["all"]["result"]
    for each in times.values():
        each.pop("result")
    return times | {"values": values}


def _peer(peer: str, codes: Path, folder: Path, longest: float) -> list[dict[str, Any]]:
    python, reason = _python(peer, folder)
    rows = []
    for measure in MEASURES[peer]:
        print(f"groups: {peer} {measure}", file=sys.stderr)
        answer = {} if reason else _ask([python, str(_SCRIPT), peer, measure, str(codes)], longest)
        rows.append({"peer": peer, "measure": measure, "not_measured": reason or None, **answer})
    return rows


def _python(peer: str, folder: Path) -> tuple[str, str]:
    """Return a Python that has the peer, or why there is none."""
    if peer == "statsmodels" and find_spec(peer):
        return sys.executable, ""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*install, *PACKAGES[peer]], capture_output=True, text=True, check=False)
    return python, _last_line(done.stderr) if done.returncode else ""


def _ask(program: list[str], longest: float) -> dict[str, Any]:
    try:
        done = subprocess.run(program, capture_output=True, text=True, timeout=longest, check=False)
    except subprocess.TimeoutExpired:
        return {"not_measured": f"took longer than {longest:g} s"}
    if done.returncode:
        return {"not_measured": _last_line(done.stderr)}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _last_line(said: str) -> str:
    return (said.strip().splitlines() or ["it ended without a word"])[-1]


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6f}"
