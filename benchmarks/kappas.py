"""Pairwise kappas with standard errors and resamples, compared with a loop of scikit-learn's.

Most published analyses use such a loop: ``cohen_kappa_score`` for each pair, without standard error
or interval. The loop is measured in its best case, with integer labels and with missing answers
removed before the measurement, and also with Python strings, as read from a CSV file.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score

from analysis import Options, bundle_from_tables
from analysis.readings.clusters import resample_weights
from analysis.readings.matrix import NO_LETTER, ReadingMatrix, reading_matrix
from analysis.statistics.agreement.pairs.counts import Pair, count_pairs, pairs_of, sums_of
from analysis.statistics.agreement.pairs.measures import KAPPA_LETTERS, MEASURES_OF_EVERY_SCOPE
from analysis.statistics.agreement.pairs.resampling import cluster_intervals
from benchmarks.bundles import Size, simulate_bundle
from benchmarks.machine import ratios, time_in_turn, time_once
from benchmarks.summary import bar_lines, target

DESCRIPTION = "pairwise kappas with standard errors and 2,000 resamples, compared with scikit-learn"
SMALLEST = "--items 80 --patients 40 --raters 3 --resamples 20 --measured 1 --repeats 1"
# Largest difference between the kappas that rounding can cause.
ROUNDING = 1e-12

Labels = NDArray[Any]
PairLabels = Sequence[tuple[Labels, Labels]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's own options."""
    parser.add_argument("--items", type=int, default=40_826)
    parser.add_argument("--patients", type=int, default=10_000)
    parser.add_argument("--raters", type=int, default=11)
    parser.add_argument("--resamples", type=int, default=2_000)
    parser.add_argument("--measured", type=int, default=3, help="resamples the loop really does")
    parser.add_argument("--repeats", type=int, default=7, help="how often each is timed")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure both computations; return the times, the ratios and the targets."""
    matrix = _matrix(args)
    pairs = pairs_of(matrix.columns)
    codes, letters = _labels(matrix, pairs, int), _labels(matrix, pairs, object)
    plain = time_in_turn(
        {"ours": lambda: _kappas(matrix, pairs), "loop": lambda: _loop_kappas(codes)}, args.repeats
    )
    strings = time_once(lambda: _loop_kappas(letters))
    difference = float(np.abs(plain["ours"].pop("result")[0] - plain["loop"].pop("result")).max())
    strings.pop("result")
    options = Options(bootstrap=args.resamples)
    timings = time_in_turn(
        {
            "kappa": lambda: _resample_kappas(matrix, pairs, options, (KAPPA_LETTERS,)),
            "five": lambda: _resample_kappas(matrix, pairs, options, MEASURES_OF_EVERY_SCOPE),
        },
        max(1, args.repeats // 2),
    )
    few = time_once(lambda: _resampled_loop(matrix, pairs, args.measured))
    for each in (*timings.values(), few):
        each.pop("result")
    scaled = {key: few[key] * args.resamples / args.measured for key in ("wall_s", "cpu_s")}
    return {
        "raters": args.raters,
        "items": args.items,
        "patients": matrix.n_clusters,
        "pairs": len(pairs),
        "resamples": args.resamples,
        "processors": os.cpu_count(),
        "largest_difference": difference,
        "plain": {"ours": plain["ours"], "loop": plain["loop"], "loop_of_strings": strings},
        "plain_ratios": {
            "loop": ratios(plain["loop"], plain["ours"]),
            "loop_of_strings": ratios(strings, plain["ours"]),
        },
        "resampled": {
            "ours": timings["kappa"],
            "ours_five_measures": timings["five"],
            "loop_measured": few | {"resamples": args.measured},
            "loop_scaled_up": scaled,
        },
        "resampled_ratios": {
            "kappa": ratios(scaled, timings["kappa"]),
            "five_measures": ratios(scaled, timings["five"]),
        },
        "bars": _bars(plain, scaled, timings["kappa"], difference),
    }


def text(result: Mapping[str, Any]) -> str:
    """Return the result as lines."""
    plain, drawn = result["plain"], result["resampled"]
    by, resampled = result["plain_ratios"], result["resampled_ratios"]
    lines = [
        f"{result['raters']} raters, {result['pairs']} pairs, {result['items']:,} items,"
        f" {result['patients']:,} patients; {result['processors']} processors",
        "",
        "kappas of all pairs                            wall s    CPU s   ratio wall, CPU",
        _line("ours, with standard errors", plain["ours"]),
        _line("loop, integer labels, none", plain["loop"], by["loop"]),
        _line("loop, labels as strings, none", plain["loop_of_strings"], by["loop_of_strings"]),
        "",
        f"with {result['resamples']:,} resamples of patients",
        _line("ours, kappa", drawn["ours"]),
        _line("ours, all five measures", drawn["ours_five_measures"]),
        _line("loop, kappa, scaled up", drawn["loop_scaled_up"], resampled["kappa"]),
        f"  (the loop did {drawn['loop_measured']['resamples']} resamples in"
        f" {drawn['loop_measured']['wall_s']:.2f} s; against our five measures"
        f" {resampled['five_measures']['wall']:g} times as long)",
        "",
        f"largest difference of the kappas: {result['largest_difference']:.1e}",
        *bar_lines(result["bars"]),
    ]
    return "\n".join(lines)


def scaled_bar(slow: Mapping[str, Any], fast: Mapping[str, Any], name: str, least: float) -> Any:
    """Return the target for a ratio of wall-clock times."""
    return target(name, slow["wall_s"] / fast["wall_s"], least, "times", at_least=True)


def _bars(
    plain: Mapping[str, Any],
    scaled: Mapping[str, Any],
    timings: Mapping[str, Any],
    difference: float,
) -> list[dict[str, Any]]:
    return [
        scaled_bar(plain["loop"], plain["ours"], "kappas with standard errors, over the loop", 12),
        scaled_bar(scaled, timings, "kappas of all resamples, over the loop", 500),
        target("kappas equal the loop's, in units of 1e-12", difference / ROUNDING, 1, ""),
    ]


def _line(name: str, cost: Mapping[str, Any], baseline: Mapping[str, float] | None = None) -> str:
    times = f"  {name:42s} {cost['wall_s']:9.3f} {cost['cpu_s']:8.3f}"
    return times + (f"   {baseline['wall']:g}, {baseline['cpu']:g}" if baseline else "")


def _matrix(args: argparse.Namespace) -> ReadingMatrix:
    readers = min(3, args.raters - 1)
    tables = simulate_bundle(
        Size(
            readers=readers,
            models=args.raters - readers,
            items=args.items,
            patients=args.patients,
        )
    )
    return reading_matrix(bundle_from_tables(tables.items, tables.readings, tables.raters))


def _labels(matrix: ReadingMatrix, pairs: Sequence[Pair], kind: type) -> PairLabels:
    """Return the labels of each pair for the items that both raters answered."""
    letters = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), dtype=object)
    values = []
    for pair in pairs:
        a, b = (matrix.answers[:, column].astype(np.int64) for column in (pair.a, pair.b))
        both = (a != NO_LETTER) & (b != NO_LETTER)
        values.append(tuple(letters[c[both]] if kind is object else c[both] for c in (a, b)))
    return values


def _kappas(matrix: ReadingMatrix, pairs: Sequence[Pair]) -> tuple[Labels, Labels]:
    all_items = np.arange(len(matrix.truth))
    counts = count_pairs(matrix, pairs, all_items, np.zeros_like(all_items), 1)
    kappa, se = KAPPA_LETTERS.estimate(sums_of(counts)), KAPPA_LETTERS.standard_error(counts)
    return kappa[:, 0], se[:, 0]


def _loop_kappas(labels: PairLabels) -> Labels:
    return np.array([cohen_kappa_score(a, b) for a, b in labels])


def _resample_kappas(
    matrix: ReadingMatrix, pairs: Sequence[Pair], options: Options, measures: Sequence[Any]
) -> Any:
    weights = resample_weights(matrix.n_clusters, options.bootstrap, options.seed)
    all_items = np.arange(len(matrix.truth))
    return cluster_intervals(matrix, measures, pairs, [all_items], weights, options.alpha)


def _resampled_loop(matrix: ReadingMatrix, pairs: Sequence[Pair], resamples: int) -> list[Labels]:
    """Run the loop on the items of resampled patients, which is the usual cluster bootstrap."""
    generator = np.random.default_rng(1)
    edges = np.flatnonzero(np.diff(matrix.clusters)) + 1
    members = np.split(np.arange(len(matrix.clusters)), edges)
    answers = matrix.answers.astype(np.int64)
    answers[answers == NO_LETTER] = 0  # a substitute answer, because masking is not measured
    values = []
    for _ in range(resamples):
        drawn = generator.integers(len(members), size=len(members))
        resample = answers[np.concatenate([members[i] for i in drawn])]
        values.append(_loop_kappas([(resample[:, pair.a], resample[:, pair.b]) for pair in pairs]))
    return values
