"""Every statistic of the analysis, and the run that computes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import pandas as pd
from threadpoolctl import threadpool_limits

from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.parallel import alongside
from analysis.results import Results
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
from analysis.statistics.comparison.gee import GEE
from analysis.statistics.comparison.pairs import comparisons, model_pairs
from analysis.statistics.mrmc.conditions import reader_conditions, reader_conditions_items
from analysis.statistics.mrmc.panel import panel_adjusted, reader_panel
from analysis.statistics.mrmc.sensitivity import sensitivity_panel, variance_components
from analysis.statistics.statistic import Statistic, always
from analysis.statistics.study import Study
from analysis.statistics.time_model import TIME_MODEL
from analysis.statistics.times import TIMES


def _plain(
    name: str, compute: Callable[[Study], pd.DataFrame], applies: Callable[[Study], bool] = always
) -> Statistic:
    """Return a statistic whose presentation is still in `analysis.report`."""
    return Statistic(name=name, meaning="", columns=(), compute=compute, applies=applies)


STATISTICS = (
    _plain("accuracy", accuracy),
    _plain("agreement_pairs", agreement_pairs),
    _plain("agreement_groups", agreement_groups),
    _plain("comparisons", comparisons),
    _plain("reader_panel", reader_panel),
    _plain("reader_conditions", reader_conditions),
    TIMES,
    _plain("missing", missing),
    _plain("sensitivity", sensitivity),
    _plain("sensitivity_panel", sensitivity_panel),
    _plain("panel_adjusted", panel_adjusted),
    _plain("reader_conditions_items", reader_conditions_items),
    _plain("variance_components", variance_components),
    GEE,
    _plain("agreement_between", agreement_between),
    _plain("agreement_indices", agreement_indices),
    _plain("agreement_with_truth", agreement_with_truth),
    _plain("intra_reader", intra_reader),
    _plain("model_runs", model_runs),
    _plain("model_conditions", model_conditions),
    _plain("model_pairs", model_pairs),
    _plain("option_positions", option_positions),
    TIME_MODEL,
    _plain("item_difficulty", item_difficulty),
    _plain("model_disagreements", model_disagreements),
    _plain("leaderboard", leaderboard),
    _plain("banks", banks, has_banks),
    _plain("model_calibration", model_calibration, has_sureness),
    _plain("model_reliability", model_reliability, has_sureness),
    _plain("open_ended", open_ended, has_open_answers),
    _plain("open_gap", open_gap, has_open_answers),
    _plain("open_scoring", open_scoring, has_open_scores),
)
"""Every statistic, in the order in which tables are computed and listed in `results.json`."""


IN_SECOND_PROCESS = (
    "agreement_pairs",
    "agreement_groups",
    "agreement_between",
    "agreement_indices",
)
"""About half of the work of a large bundle with patients."""


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
        Every table that applies to the bundle, by its name.

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
    study = Study(bundle, options or Options())
    # The products are small: threads that wait for one another on a machine in use cost four times
    # the processor time, and longer.
    with threadpool_limits(limits=1, user_api="blas"):
        statistics = [statistic for statistic in STATISTICS if statistic.applies(study)]

        def compute(part: Iterable[Statistic]) -> dict[str, pd.DataFrame]:
            tables = {}
            for statistic in part:
                if tell:
                    tell(statistic.name)
                tables[statistic.name] = study.table(statistic.compute)
            return tables

        if in_parallel:
            study.weights  # noqa: B018  computed once, before the fork
            halves: dict[bool, list[Statistic]] = {True: [], False: []}
            for statistic in statistics:
                halves[statistic.name in IN_SECOND_PROCESS].append(statistic)
            with alongside(partial(compute, halves[True])) as second:
                first = compute(halves[False])
            computed = first | second.result()
        else:
            computed = compute(statistics)
    return Results(
        bundle=bundle,
        options=study.options,
        tables={statistic.name: computed[statistic.name] for statistic in statistics},
        n_clusters=study.matrix.n_clusters,
        clustered=study.matrix.clustered,
    )
