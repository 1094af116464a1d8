"""Agreement of a whole group of raters, beside the open programs that estimate it.

One call of ours estimates all measures, with standard errors and intervals, for readers, models and
all together; a peer's call estimates one measure of all. Peers that this environment lacks go into
a throw-away environment each, and run there as programs of their own.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import analysis
from benchmarks.bundles import Size, Tables, simulated
from benchmarks.clock import in_turn, ratios
from benchmarks.machine import Broken
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
_SCRIPT = Path(__file__).with_name("group_peers.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's own options."""
    parser.add_argument("--items", type=int, default=2_000, help="for ours and for the peers")
    parser.add_argument("--raters", type=int, default=11)
    parser.add_argument("--repeats", type=int, default=5, help="how often ours is timed")
    parser.add_argument("--longest", type=float, default=600, help="seconds a peer may take")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure; return our time, each peer's, the ratios and the bars."""
    if not hasattr(analysis, "agreement_groups"):
        raise Broken("analysis has no agreement_groups yet")
    readers = min(3, args.raters - 1)
    tables = one_scope(
        simulated(
            Size(
                readers=readers,
                models=args.raters - readers,
                items=args.items,
                patients=args.items,
            )
        )
    )
    bundle = analysis.bundle_from_tables(tables.items, tables.readings, tables.raters)
    ours = in_turn({"ours": lambda: analysis.agreement_groups(bundle)}, args.repeats)["ours"]
    table = ours.pop("result")
    with tempfile.TemporaryDirectory() as scratch:
        codes = Path(scratch) / "codes.npy"
        np.save(codes, as_codes(tables))
        rows = [
            row | compared(row, ours, table)
            for peer in PACKAGES
            for row in _peer(peer, codes, Path(scratch) / peer, args.longest)
        ]
    return {
        "raters": args.raters,
        "items": args.items,
        "ours": ours,
        "estimates_of_ours": len(table),
        "peers": rows,
        "bars": bars(rows),
    }


def text(result: Mapping[str, Any]) -> str:
    """Return the result as lines."""
    lines = [
        f"{result['raters']} raters, {result['items']:,} items; ours, {result['estimates_of_ours']}"
        f" estimates in one call: {result['ours']['wall_s']:.3f} s",
        "",
    ]
    for row in result["peers"]:
        name = f"  {row['peer']:14s} {row['measure']:20s}"
        if row["not_measured"]:
            lines.append(f"{name} not measured: {row['not_measured']}")
        else:
            over = row["ratio"]
            lines.append(
                f"{name} {row['wall_s']:9.3f} s, {over['wall']:g} times ours (CPU {over['cpu']:g});"
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


def compared(row: Mapping[str, Any], ours: Mapping[str, Any], table: Any) -> dict[str, Any]:
    """Return how many times our time a peer took, and our value of its measure."""
    if row["not_measured"]:
        return {"ratio": None, "value_of_ours": None}
    names = (row["measure"], f"{row['measure']}_letters")
    found = table.loc[
        (table["raters"] == "all") & (table["scope"] == "all") & table["measure"].isin(names),
        "estimate",
    ]
    value = None if found.empty or found.isna().any() else float(found.iloc[0])
    return {"ratio": ratios(row, ours), "value_of_ours": value}


def bars(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each measure the bar of its slowest peer; None where no peer was measured."""
    found = []
    for measure in dict.fromkeys(row["measure"] for row in rows):
        of_it = [row["ratio"]["wall"] for row in rows if row["measure"] == measure and row["ratio"]]
        name = f"{measure}, its slowest peer over all measures of ours"
        found.append(bar(name, max(of_it, default=None), LEAST, "times", at_least=True))
    return found


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
