"""The list of all statistics, and the function that computes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import pandas as pd
from threadpoolctl import threadpool_limits

from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.parallel import in_second_process
from analysis.results import Results
from analysis.statistics.accuracy.accuracy import ACCURACY
from analysis.statistics.accuracy.banks import BANKS
from analysis.statistics.accuracy.calibration import (
    MODEL_CALIBRATION,
    MODEL_RELIABILITY,
)
from analysis.statistics.accuracy.diagnostic import DIAGNOSTIC
from analysis.statistics.accuracy.items import (
    ITEM_DIFFICULTY,
    MODEL_DISAGREEMENTS,
)
from analysis.statistics.accuracy.leaderboard import LEADERBOARD
from analysis.statistics.accuracy.majority import MAJORITY_VOTE
from analysis.statistics.accuracy.missing import MISSING
from analysis.statistics.accuracy.model_conditions import MODEL_CONDITIONS
from analysis.statistics.accuracy.model_runs import MODEL_RUNS
from analysis.statistics.accuracy.open_ended import (
    OPEN_ENDED,
    OPEN_GAP,
)
from analysis.statistics.accuracy.option_positions import OPTION_POSITIONS
from analysis.statistics.accuracy.recalibration import MODEL_RECALIBRATION
from analysis.statistics.accuracy.roc import ROC_AREAS, ROC_POINTS
from analysis.statistics.accuracy.sensitivity import SENSITIVITY
from analysis.statistics.advice_weight import ADVICE_WEIGHT
from analysis.statistics.agreement.between import AGREEMENT_BETWEEN
from analysis.statistics.agreement.groups.raters import AGREEMENT_RATERS
from analysis.statistics.agreement.groups.table import AGREEMENT_GROUPS
from analysis.statistics.agreement.intra_reader import INTRA_READER
from analysis.statistics.agreement.judges import OPEN_SCORING
from analysis.statistics.agreement.pairs.description import AGREEMENT_PAIRS
from analysis.statistics.agreement.pairs.indices import AGREEMENT_INDICES
from analysis.statistics.agreement.weighted import AGREEMENT_WEIGHTED
from analysis.statistics.agreement.with_truth import AGREEMENT_WITH_TRUTH
from analysis.statistics.comparison.gee import GEE
from analysis.statistics.comparison.model_pairs import MODEL_PAIRS
from analysis.statistics.comparison.pairs import COMPARISONS
from analysis.statistics.mrmc.by_class import DIAGNOSTIC_CONDITIONS, DIAGNOSTIC_PANEL
from analysis.statistics.mrmc.by_group import READER_CONDITIONS_BY, READER_PANEL_BY
from analysis.statistics.mrmc.by_reader import READER_CONDITIONS_READERS
from analysis.statistics.mrmc.components import VARIANCE_COMPONENTS
from analysis.statistics.mrmc.conditions import (
    READER_CONDITIONS,
    READER_CONDITIONS_ITEMS,
)
from analysis.statistics.mrmc.experience import READER_YEARS
from analysis.statistics.mrmc.group_tasks import READER_GROUPS_TASKS
from analysis.statistics.mrmc.groups import (
    READER_GROUPS,
    READER_GROUPS_GAIN,
    READER_GROUPS_METRICS,
)
from analysis.statistics.mrmc.heterogeneity import HETEROGENEITY
from analysis.statistics.mrmc.moments import UNCROSSED_COMPONENTS
from analysis.statistics.mrmc.noninferiority import NONINFERIORITY
from analysis.statistics.mrmc.panel import (
    PANEL_ADJUSTED,
    READER_PANEL,
)
from analysis.statistics.mrmc.sensitivity import SENSITIVITY_PANEL
from analysis.statistics.mrmc.time_conditions import TIME_CONDITIONS
from analysis.statistics.mrmc.uncrossed import UNCROSSED
from analysis.statistics.reliance import RELIANCE
from analysis.statistics.statistic import Statistic
from analysis.statistics.study import Study
from analysis.statistics.support import keep_readings
from analysis.statistics.time_model import TIME_MODEL
from analysis.statistics.times import TIMES

STATISTICS = (
    ACCURACY,
    AGREEMENT_PAIRS,
    AGREEMENT_GROUPS,
    COMPARISONS,
    READER_PANEL,
    READER_CONDITIONS,
    TIMES,
    MISSING,
    SENSITIVITY,
    SENSITIVITY_PANEL,
    PANEL_ADJUSTED,
    NONINFERIORITY,
    READER_CONDITIONS_ITEMS,
    UNCROSSED,
    VARIANCE_COMPONENTS,
    GEE,
    AGREEMENT_BETWEEN,
    AGREEMENT_INDICES,
    AGREEMENT_WITH_TRUTH,
    INTRA_READER,
    MODEL_RUNS,
    MODEL_CONDITIONS,
    MODEL_PAIRS,
    OPTION_POSITIONS,
    TIME_MODEL,
    ITEM_DIFFICULTY,
    MODEL_DISAGREEMENTS,
    LEADERBOARD,
    BANKS,
    MODEL_CALIBRATION,
    MODEL_RELIABILITY,
    OPEN_ENDED,
    OPEN_GAP,
    OPEN_SCORING,
    RELIANCE,
    DIAGNOSTIC,
    READER_GROUPS,
    READER_GROUPS_GAIN,
    READER_PANEL_BY,
    READER_CONDITIONS_BY,
    DIAGNOSTIC_PANEL,
    DIAGNOSTIC_CONDITIONS,
    ROC_POINTS,
    ROC_AREAS,
    TIME_CONDITIONS,
    MAJORITY_VOTE,
    MODEL_RECALIBRATION,
    AGREEMENT_RATERS,
    HETEROGENEITY,
    AGREEMENT_WEIGHTED,
    READER_GROUPS_METRICS,
    READER_GROUPS_TASKS,
    READER_YEARS,
    READER_CONDITIONS_READERS,
    ADVICE_WEIGHT,
    UNCROSSED_COMPONENTS,
)
"""Every statistic, in the order in which tables are computed and listed in `results.json`."""


TABLES_IN_SECOND_PROCESS = (
    "agreement_pairs",
    "agreement_groups",
    "agreement_between",
    "agreement_indices",
    "agreement_with_truth",
)
"""Tables that take about half of the processor time of a large bundle with patients."""


def analyse(
    bundle: Bundle,
    options: Options | None = None,
    *,
    on_step: Callable[[str], None] | None = None,
    in_parallel: bool = False,
) -> Results:
    """Compute every table of a bundle.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples, alpha and margin.
    on_step : callable, optional
        Called with a table's name before it is computed.
    in_parallel : bool, default False
        Compute the agreement tables in a second process where that is possible.

    Returns
    -------
    Results
        Every table that applies to the bundle, by name.

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
    # The matrix products are small: on a busy machine, BLAS threads that wait for each other take
    # four times the processor time and finish later.
    with threadpool_limits(limits=1, user_api="blas"):
        statistics = [statistic for statistic in STATISTICS if statistic.applies(study)]

        def compute(part: Iterable[Statistic]) -> dict[str, pd.DataFrame]:
            tables = {}
            for statistic in part:
                if on_step:
                    on_step(statistic.name)
                tables[statistic.name] = study.table(statistic.compute)
            return tables

        if in_parallel:
            study.weights  # noqa: B018  computed once, before the fork
            halves: dict[bool, list[Statistic]] = {True: [], False: []}
            for statistic in statistics:
                halves[statistic.name in TABLES_IN_SECOND_PROCESS].append(statistic)
            with in_second_process(partial(compute, halves[True])) as second:
                first = compute(halves[False])
            computed = first | second.result()
        else:
            computed = compute(statistics)
    results = Results(
        bundle=bundle,
        options=study.options,
        tables={statistic.name: computed[statistic.name] for statistic in statistics},
        n_clusters=study.matrix.n_clusters,
        clustered=study.matrix.clustered,
    )
    keep_readings(results, study.matrix)
    return results
