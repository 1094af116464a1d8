"""One run of the analysis: every table, from the same readings and the same resamples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial

import pandas as pd
from threadpoolctl import threadpool_limits

from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.parallel import alongside
from analysis.statistics.accuracy.accuracy import accuracy, leaderboard
from analysis.statistics.accuracy.calibration import (
    has_sureness,
    model_calibration,
    model_reliability,
)
from analysis.statistics.accuracy.items import item_difficulty, missing, model_disagreements
from analysis.statistics.accuracy.open_ended import has_open_answers, open_ended, open_gap
from analysis.statistics.accuracy.robustness import (
    banks,
    has_banks,
    model_conditions,
    model_runs,
    option_positions,
    sensitivity,
)
from analysis.statistics.agreement.alone import agreement_with_truth, intra_reader
from analysis.statistics.agreement.between import agreement_between
from analysis.statistics.agreement.groups.table import agreement_groups
from analysis.statistics.agreement.judges import has_open_scores, open_scoring
from analysis.statistics.agreement.pairs.table import agreement_indices, agreement_pairs
from analysis.statistics.comparison.gee import gee
from analysis.statistics.comparison.pairs import comparisons, model_pairs
from analysis.statistics.mrmc.conditions import reader_conditions, reader_conditions_items
from analysis.statistics.mrmc.panel import adjusted, panel_adjusted, reader_panel
from analysis.statistics.mrmc.sensitivity import sensitivity_panel, variance_components
from analysis.statistics.study import Study
from analysis.statistics.times import time_model, times


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Results:
    """The tables of a run, with what they were made from.

    Parameters
    ----------
    bundle : Bundle
        The input.
    options : Options
        The choices.
    tables : mapping of str to pandas.DataFrame
        By name, without `.csv`.
    n_clusters : int
        Clusters of items: patients, examinations where no patient is given.
    clustered : bool
        Whether some cluster has more than one item, so that cluster intervals are given.
    """

    bundle: Bundle
    options: Options
    tables: Mapping[str, pd.DataFrame]
    n_clusters: int
    clustered: bool


def analyse(
    bundle: Bundle,
    options: Options | None = None,
    *,
    tell: Callable[[str], None] | None = None,
    in_parallel: bool = False,
) -> Results:
    """Compute every table of a bundle.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples, alpha and margin.
    tell : callable, optional
        Called with a table's name before it is computed.
    in_parallel : bool, default False
        Compute the tables of agreement in a second process where that is possible.

    Returns
    -------
    Results
        Every table, by its name.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> results = analyse(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1"], "truth": ["A"]}),
    ...     pd.DataFrame({"rater_id": ["R1"], "item_id": ["q1"], "answer": ["A"]}),
    ... ))
    >>> results.tables["missing"]["n_answered"].tolist()
    [1]
    """
    options = options or Options()
    # The products are small: threads that wait for one another on a machine in use cost four times
    # the processor time, and longer.
    with threadpool_limits(limits=1, user_api="blas"):
        study = Study(bundle, options)
        panel = cache(partial(reader_panel, study))
        sure, in_words = has_sureness(study), has_open_answers(study)
        steps: dict[str, Callable[[], pd.DataFrame]] = {
            **{name: partial(table, study) for name, table in TABLES.items()},
            "reader_panel": panel,
            "panel_adjusted": lambda: adjusted(panel(), bundle.labels, bundle.protocol),
            **({"banks": partial(banks, study)} if has_banks(study.matrix) else {}),
            **({name: partial(f, study) for name, f in SURENESS.items()} if sure else {}),
            **({name: partial(f, study) for name, f in OPEN.items()} if in_words else {}),
            **({"open_scoring": partial(open_scoring, study)} if has_open_scores(study) else {}),
        }

        def compute(names: Iterable[str]) -> dict[str, pd.DataFrame]:
            computed = {}
            for name in names:
                if tell:
                    tell(name)
                computed[name] = steps[name]()
            return computed

        if in_parallel:
            study.weights  # noqa: B018  computed once, before the fork
            with alongside(partial(compute, IN_SECOND_PROCESS)) as second:
                first = compute(name for name in steps if name not in IN_SECOND_PROCESS)
            computed = first | second.result()
        else:
            computed = compute(steps)
        tables = {name: computed[name] for name in steps}
    return Results(
        bundle=bundle,
        options=options,
        tables=tables,
        n_clusters=study.matrix.n_clusters,
        clustered=study.matrix.clustered,
    )


IN_SECOND_PROCESS = (
    "agreement_pairs",
    "agreement_groups",
    "agreement_between",
    "agreement_indices",
)
"""About half of the work of a large bundle with patients."""

SURENESS = {"model_calibration": model_calibration, "model_reliability": model_reliability}
OPEN = {"open_ended": open_ended, "open_gap": open_gap}
TABLES: Mapping[str, Callable[[Study], pd.DataFrame]] = {
    "accuracy": accuracy,
    "agreement_pairs": agreement_pairs,
    "agreement_groups": agreement_groups,
    "comparisons": comparisons,
    "reader_panel": reader_panel,
    "reader_conditions": reader_conditions,
    "times": times,
    "missing": missing,
    "sensitivity": sensitivity,
    "sensitivity_panel": sensitivity_panel,
    "panel_adjusted": panel_adjusted,
    "reader_conditions_items": reader_conditions_items,
    "variance_components": variance_components,
    "gee": gee,
    "agreement_between": agreement_between,
    "agreement_indices": agreement_indices,
    "agreement_with_truth": agreement_with_truth,
    "intra_reader": intra_reader,
    "model_runs": model_runs,
    "model_conditions": model_conditions,
    "model_pairs": model_pairs,
    "option_positions": option_positions,
    "time_model": time_model,
    "item_difficulty": item_difficulty,
    "model_disagreements": model_disagreements,
    "leaderboard": leaderboard,
}
"""Every table by its name, in the order in which they are computed and listed."""
