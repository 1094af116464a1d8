"""Agreement of scorers and of expert reviewers, and the files of an expert review."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from analysis.arrays import Floats, Ints
from analysis.bundle.cells import escape_table, unescape_table
from analysis.bundle.model import OPEN_ANSWER_KINDS, SCORE_VALUES, Bundle
from analysis.bundle.parse import parse_csv
from analysis.errors import BundleError, Fault, quoted
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    estimate_of,
    percent_cell,
    percent_with_range,
    report_table,
    row_label,
)
from analysis.presentation.wording import cell_number, rows_by
from analysis.readings.clusters import (
    PERCENTILE_METHOD,
    WIDENED_METHOD,
    is_widened,
    percentile_limits,
    ratio,
    reason_too_few,
    resample_weights,
)
from analysis.results import Results
from analysis.statistics.accuracy.accuracy import WILSON
from analysis.statistics.accuracy.means import wilson_interval
from analysis.statistics.accuracy.open_ended import KIND_WORDS
from analysis.statistics.agreement.groups.coefficients import above_chance
from analysis.statistics.statistic import Column, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t, translated
from analysis.writing import staging_folder

RAW, KAPPA, BRENNAN = "raw", "kappa_linear", "brennan_prediger"
THIRD, LEVEL = "third_needed", "level"
MEASURES = (RAW, KAPPA, BRENNAN, THIRD)
LEVELS = tuple(SCORE_VALUES)
LINEARISED = later("linearised, t")
TWO_BLIND = later("no answer has two blind scores")
ONE_LEVEL = later("chance agreement is 1: every score is the same")
NO_VARIATION = later("standard error and interval: no variation between the answers")
ONE_UNIT = later("standard error and interval: all answers are to one item or patient")
FEW_RESAMPLES = later("interval: too many resamples leave it undefined")

_LEVEL_DISTANCE = np.abs(np.subtract.outer(np.arange(len(LEVELS)), np.arange(len(LEVELS))))
LEVEL_CREDIT: Floats = 1 - _LEVEL_DISTANCE / (len(LEVELS) - 1)
"""Credit for two levels: 1 for the same level, 0.5 for neighbours, 0 for opposite ends."""


def has_open_scores(study: Study) -> bool:
    """Return whether any free-text answer was scored."""
    return len(study.bundle.open_scores) > 0


def open_scoring(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate the agreement between two blind scores of each answer, and every scorer's levels.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables, with scores of free-text answers.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `OPEN_SCORING`. For answers and for explanations, it has `raw`,
        `kappa_linear`, `brennan_prediger` and `third_needed` over the answers with two blind
        scores; then for every scorer the share of each `level` among all their scores.

    Notes
    -----
    The two blind scorers vary between answers, and their order is meaningless, so chance agreement
    is that of interchangeable scorers. Let :math:`\pi_k` be the share of level k among all these
    scores, and :math:`w_{kl}` the credit: 1 for the same level, 0.5 for neighbours, 0 for opposite
    ends [1]_. Kappa is :math:`(p_o - p_e) / (1 - p_e)`, where :math:`p_o` is the mean credit and
    :math:`p_e = \sum_{kl} w_{kl} \pi_k \pi_l` [2]_. It is Cohen's weighted kappa of the pairs
    counted in both orders. Brennan-Prediger assumes equally likely levels and gives no credit for
    neighbours. Standard errors are linearised: the variance is that of the answers' contributions,
    summed by patient (by item if no patient has several), times C / (C - 1). Intervals are
    percentiles over resampled patients or items. If all answers are to different items of different
    patients, the intervals use t with n - 1 degrees of freedom and are truncated at 1.

    References
    ----------
    .. [1] Cohen J. Weighted kappa: nominal scale agreement with provision for scaled disagreement
       or partial credit. Psychol Bull 1968;70:213-220. doi:10.1037/h0026256
    .. [2] Fleiss JL. Measuring nominal scale agreement among many raters. Psychol Bull
       1971;76:378-382. doi:10.1037/h0031619
    """
    study = study_of(study, options)
    answers = study.bundle.open_answers.set_index("answer_id")
    scores = study.bundle.open_scores.join(answers[["kind", "item_id"]], on="answer_id")
    rows = [
        {"kind": kind, "scorer": "", "level": "", **row}
        for kind in OPEN_ANSWER_KINDS
        for row in _rows_of_kind(study, scores.loc[scores["kind"] == kind])
    ]
    return pd.DataFrame(rows, columns=OPEN_SCORING.header).astype({"n_found": "Int64"})


def _rows_of_kind(study: Study, scores: pd.DataFrame) -> Iterator[dict[str, Any]]:
    if not len(scores):
        return
    codes = scores.assign(code=scores["score"].map({name: i for i, name in enumerate(LEVELS)}))
    blind = codes.loc[codes["turn"] <= 2].pivot(index="answer_id", columns="turn", values="code")
    blind = blind.reindex(columns=[1, 2]).dropna()
    item_ids = codes.drop_duplicates("answer_id").set_index("answer_id")["item_id"].loc[blind.index]
    items = pd.Index(study.matrix.item_ids).get_indexer(pd.Index(item_ids))
    pairs: Ints = blind.to_numpy(dtype=np.int64)
    yield from _scoring_agreement(study, pairs, study.matrix.clusters[items])
    alpha = study.options.alpha
    for scorer, own_scores in scores.groupby("scorer"):
        for level in LEVELS:
            n, n_found = len(own_scores), int((own_scores["score"] == level).sum())
            low, high = wilson_interval(np.array(float(n_found)), np.array(float(n)), alpha)
            yield {
                "scorer": scorer,
                "measure": LEVEL,
                "level": level,
                "n": n,
                "n_found": n_found,
                "estimate": n_found / n,
                "se": np.nan,
                "ci_low": float(low),
                "ci_high": float(high),
                "method": WILSON,
                "undefined_because": "",
            }


def _scoring_agreement(study: Study, pairs: Ints, clusters: Ints) -> Iterator[dict[str, Any]]:
    n, k = len(pairs), len(LEVELS)
    if not n:
        for measure in MEASURES:
            yield {"measure": measure, "n": 0, "undefined_because": TWO_BLIND}
        return
    present, unit = np.unique(clusters, return_inverse=True)
    cells = np.zeros((len(present), k * k))
    np.add.at(cells, (unit, pairs[:, 0] * k + pairs[:, 1]), 1)
    estimates = _scoring_coefficients(cells.sum(axis=0).reshape(1, k, k))
    contributions = _contributions(pairs, estimates)
    is_one_answer_per_unit = len(present) == n
    drawn = {} if is_one_answer_per_unit else _resampled_coefficients(study, cells, present)
    n_same = int((pairs[:, 0] == pairs[:, 1]).sum())
    for measure, value in estimates.items():
        count = {RAW: n_same, THIRD: n - n_same}.get(measure)
        yield {
            "measure": measure,
            "n": n,
            "n_found": count,
            "estimate": value[0],
            **_uncertainty_cells(study, contributions[measure], unit, drawn.get(measure), value[0]),
        }


def _uncertainty_cells(
    study: Study, contributions: Floats, unit: Ints, drawn: Floats | None, estimate: float
) -> dict[str, Any]:
    """Return the standard error and interval of a measure, from the answers' contributions."""
    n, alpha, n_units = len(contributions), study.options.alpha, np.array(len(np.unique(unit)))
    cells: dict[str, Any] = dict.fromkeys(("se", "ci_low", "ci_high"), np.nan)
    resampled_units = "patients" if study.weights is not None else "items"
    method = (WIDENED_METHOD if is_widened(n_units) else PERCENTILE_METHOD).replace(
        "patients", resampled_units
    )
    cells |= {"method": LINEARISED if drawn is None else method, "undefined_because": ""}
    if np.isnan(estimate):
        return cells | {"undefined_because": ONE_LEVEL}
    sums = np.bincount(unit, weights=contributions)
    if n_units < 2 or np.abs(sums).max() < 1e-12:
        return cells | {"undefined_because": ONE_UNIT if n_units < 2 else NO_VARIATION}
    cells["se"] = float(np.sqrt(n_units / (n_units - 1) * (sums**2).sum()) / n)
    if drawn is None:
        half_width = float(stats.t.ppf(1 - alpha / 2, n - 1)) * cells["se"]
        return cells | {"ci_low": estimate - half_width, "ci_high": min(estimate + half_width, 1.0)}
    low, high, _ = percentile_limits(drawn, alpha, n_units)
    few = reason_too_few(int(n_units), clustered=resampled_units == "patients")
    reason = f"interval: {few}" if few else FEW_RESAMPLES if np.isnan(low) else ""
    return cells | {"ci_low": float(low), "ci_high": float(high), "undefined_because": reason}


def _resampled_coefficients(study: Study, cells: Floats, present: Ints) -> dict[str, Floats]:
    """Return every measure in every resample of patients, or of items if no patient has several."""
    options, n = study.options, study.matrix.n_clusters
    weights = study.weights
    if weights is None:
        weights = resample_weights(n, options.bootstrap, options.seed)
    return _scoring_coefficients(
        (weights[:, present] @ cells).reshape(-1, len(LEVELS), len(LEVELS))
    )


def _scoring_coefficients(tables: Floats) -> dict[str, Floats]:
    """Return the measures of agreement between two scores; `tables` has shape (n, k, k)."""
    n, k = tables.sum(axis=(1, 2)), tables.shape[1]
    raw = ratio(np.trace(tables, axis1=1, axis2=2), n)
    credit = ratio((tables * LEVEL_CREDIT).sum(axis=(1, 2)), n)
    shares = ratio(tables.sum(axis=1) + tables.sum(axis=2), 2 * n[:, None])
    by_chance = (shares @ LEVEL_CREDIT * shares).sum(axis=1)
    return {
        RAW: raw,
        KAPPA: above_chance(credit, by_chance),
        BRENNAN: above_chance(raw, np.full_like(raw, 1 / k)),
        THIRD: 1 - raw,
    }


def _contributions(pairs: Ints, estimates: dict[str, Floats]) -> dict[str, Floats]:
    """Return each answer's contribution to each measure, multiplied by the number of answers."""
    k = len(LEVELS)
    is_same_level = (pairs[:, 0] == pairs[:, 1]).astype(float)
    credit = LEVEL_CREDIT[pairs[:, 0], pairs[:, 1]]
    pair_counts = (np.eye(k)[pairs[:, 0]] + np.eye(k)[pairs[:, 1]]) / 2
    shares = pair_counts.mean(axis=0)
    beyond_chance = 1 - shares @ LEVEL_CREDIT @ shares
    kappa_change = (credit - credit.mean()) * beyond_chance
    kappa_change -= (1 - credit.mean()) * 2 * ((pair_counts - shares) @ LEVEL_CREDIT @ shares)
    raw = is_same_level - estimates[RAW][0]
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa = kappa_change / beyond_chance**2
    return {RAW: raw, KAPPA: kappa, BRENNAN: raw / (1 - 1 / k), THIRD: -raw}


SOUND, MIXED = "sound", "several faults"
VERDICTS = (
    SOUND,
    "ambiguous",
    "wrong reference standard",
    "hallucinated finding",
    "not answerable from the image",
)
VERDICT_COLUMNS = ("item_id", "reviewer", "place", "verdict")
FAULTY = "faulty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The result of an expert review.

    Parameters
    ----------
    items : pandas.DataFrame
        Columns `item_id, task, n_verdicts, finding`; `finding` is empty if the item needs another
        reviewer.
    summary : pandas.DataFrame
        Columns `task, finding, n, n_found, share, ci_low, ci_high`; over the items with a finding,
        overall (`task` is empty) and by task: first `faulty`, then each fault. Proportions are from
        0 to 1, with Wilson's interval.
    agreement : pandas.DataFrame
        Columns `categories, measure, n, value, ci_low, ci_high`: agreement between the two blind
        verdicts, with all `verdicts` as categories and with `faulty or sound`.
    reviewers : pandas.DataFrame
        Columns `reviewer, n, n_faulty, share, ci_low, ci_high`.
    """

    items: pd.DataFrame
    summary: pd.DataFrame
    agreement: pd.DataFrame
    reviewers: pd.DataFrame

    @property
    def faulty(self) -> pd.DataFrame:
        """The columns `item_id` and `finding` of the faulty items."""
        faulty = self.items.loc[~self.items["finding"].isin(["", SOUND]), ["item_id", "finding"]]
        return faulty.reset_index(drop=True)


def read_verdicts(path: Path) -> pd.DataFrame:
    """Read a file of verdicts, as ``python -m study review verdicts`` writes it.

    Raises
    ------
    BundleError
        The file cannot be read, lacks a column, or has an invalid row; every fault is listed.
    """
    table = _read_table(path, VERDICT_COLUMNS)
    file = path.name
    repeated = table.duplicated(["item_id", "reviewer"]) | table.duplicated(["item_id", "place"])
    faults = [
        *_faults_in_column(
            file,
            table,
            ~table["verdict"].isin(VERDICTS),
            "verdict",
            "Use one of " + ", ".join(VERDICTS),
        ),
        *_faults_in_column(
            file, table, ~table["place"].str.fullmatch("[1-9]"), "place", "Count from 1"
        ),
        *_faults_in_column(
            file, table, repeated, "item_id", "Give each reviewer's last verdict on it once"
        ),
    ]
    if faults:
        raise BundleError(faults)
    return table.assign(place=table["place"].astype(np.int64))


def read_faulty(path: Path) -> tuple[str, ...]:
    """Read the faulty items of a review: the column `item_id` of a CSV file.

    Raises
    ------
    BundleError
        The file cannot be read, or has no such column or no item.
    """
    item_ids = _read_table(path, ("item_id",))["item_id"]
    if item_ids.empty:
        raise BundleError(
            [
                Fault(
                    file=path.name,
                    row=None,
                    what="names no item",
                    remedy="Leave --faulty out where nothing is faulty",
                )
            ]
        )
    return tuple(sorted(set(item_ids)))


def review(verdicts: pd.DataFrame, options: Options | None = None) -> Review:
    r"""Return the finding on each item, the share of faulty items, and the reviewers' agreement.

    Parameters
    ----------
    verdicts : pandas.DataFrame
        One row per verdict: `item_id, reviewer, place, verdict`, and `task` and `patient_id` if
        known. `place` is 1 or 2 for the first two reviewers, who do not see each other's verdict.
    options : Options, optional
        Alpha, seed and number of resamples are used.

    Returns
    -------
    Review
        The result.

    Notes
    -----
    The finding is the verdict that two reviewers gave. With three different verdicts, at least two
    of which are faults, it is `several faults`. Two different verdicts without a third one do not
    give a finding. The two blind reviewers vary between items, so chance agreement is that of
    interchangeable raters. Kappa is therefore Fleiss' kappa [1]_, which is Scott's pi for two
    ratings: :math:`p_e = \sum_k \pi_k^2`, where :math:`\pi_k` is the share of category k among all
    these verdicts. Brennan-Prediger uses :math:`p_e = 1 / k`. Intervals of agreement are
    percentiles over resampled patients, or items if the patient is unknown.

    References
    ----------
    .. [1] Fleiss JL. Measuring nominal scale agreement among many raters. Psychol Bull
       1971;76:378-382. doi:10.1037/h0031619

    Examples
    --------
    >>> result = review(pd.DataFrame({
    ...     "item_id": ["q1", "q1", "q2", "q2", "q2"], "reviewer": ["a", "b", "a", "b", "c"],
    ...     "place": [1, 2, 1, 2, 3],
    ...     "verdict": ["sound", "sound", "sound", "ambiguous", "ambiguous"],
    ... }))
    >>> result.items["finding"].tolist(), result.faulty["item_id"].tolist()
    (['sound', 'ambiguous'], ['q2'])
    """
    options = options or Options()
    verdicts = verdicts.assign(
        **{name: verdicts.get(name, "") for name in ("task", "patient_id")}
    ).sort_values(["item_id", "place"], kind="stable")
    items = (
        verdicts.groupby("item_id")
        .agg(
            task=("task", "first"),
            n_verdicts=("verdict", "size"),
            finding=("verdict", lambda verdicts: _item_finding(list(verdicts))),
        )
        .reset_index()
    )
    return Review(
        items=items,
        summary=_summary_by_task(items, options.alpha),
        agreement=_review_agreement(verdicts, options),
        reviewers=_faults_by_reviewer(verdicts, options.alpha),
    )


def review_sentence(result: Review, options: Options | None = None) -> str:
    """Return the result of a review in words."""
    percent = (options or Options()).confidence_percent
    total, (agreed, kappa, *_) = result.summary.iloc[0], result.agreement.to_dict("records")
    if not total["n"]:
        return "No question is settled yet."
    low, high = kappa["ci_low"], kappa["ci_high"]
    interval = "too few for an interval" if np.isnan(low) else f"{low:.2f} to {high:.2f}"
    return (
        f"{total['n']} questions settled by {len(result.reviewers)} reviewers:"
        f" {total['n_found']} faulty, {100 * total['share']:.1f} %"
        f" ({percent} % CI {100 * total['ci_low']:.1f} to {100 * total['ci_high']:.1f})."
        f" The two blind verdicts agreed on {round(agreed['n'] * agreed['value'])} of"
        f" {agreed['n']}; kappa {kappa['value']:.2f} ({interval})."
    )


def write_review(path: Path, out: Path, options: Options) -> str:
    """Write a review's tables as CSV files to a folder; return the result in words."""
    result = review(read_verdicts(path), options)
    tables = {
        "review_items": result.items,
        "review_summary": result.summary,
        "review_agreement": result.agreement,
        "review_reviewers": result.reviewers,
        "faulty": result.faulty,
    }
    with staging_folder(out) as folder:
        for name, table in tables.items():
            text = escape_table(table).to_csv(index=False, lineterminator="\n")
            (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return review_sentence(result, options)


def _item_finding(verdicts: list[str]) -> str:
    counts = pd.Series(verdicts).value_counts()
    if counts.iloc[0] > 1:
        return str(counts.index[0])
    return MIXED if len(verdicts) > 2 else ""


def _summary_by_task(items: pd.DataFrame, alpha: float) -> pd.DataFrame:
    settled = items.loc[items["finding"] != ""]
    groups = [("", settled), *((task, part) for task, part in settled.groupby("task") if task)]
    rows = [
        {"task": task, "finding": name, "n": len(part), "n_found": int(chosen.sum())}
        for task, part in groups
        for name, chosen in {
            FAULTY: part["finding"] != SOUND,
            **{verdict: part["finding"] == verdict for verdict in (*VERDICTS[1:], MIXED)},
        }.items()
    ]
    return _with_shares(pd.DataFrame(rows), "n_found", alpha)


def _faults_by_reviewer(verdicts: pd.DataFrame, alpha: float) -> pd.DataFrame:
    faulty = verdicts.assign(faulty=verdicts["verdict"] != SOUND)
    table = faulty.groupby("reviewer")["faulty"].agg(n="size", n_faulty="sum").reset_index()
    return _with_shares(table, "n_faulty", alpha)


def _with_shares(table: pd.DataFrame, column: str, alpha: float) -> pd.DataFrame:
    n, n_found = (table[name].to_numpy(dtype=np.float64) for name in ("n", column))
    low, high = wilson_interval(n_found, n, alpha)
    with np.errstate(invalid="ignore"):
        return table.assign(share=n_found / n, ci_low=low, ci_high=high)


def _review_agreement(verdicts: pd.DataFrame, options: Options) -> pd.DataFrame:
    blind = verdicts.loc[verdicts["place"] <= 2]
    pairs = blind.pivot(index="item_id", columns="place", values="verdict")
    pairs = pairs.reindex(columns=[1, 2]).dropna()
    patients = verdicts.drop_duplicates("item_id").set_index("item_id")["patient_id"]
    pair_patients = patients.loc[pairs.index]
    clusters, _ = pd.factorize(
        pair_patients.where(pair_patients != "", pd.Series(pairs.index, index=pairs.index))
    )
    rows: list[tuple[object, ...]] = []
    for name, categories in (("verdicts", VERDICTS), ("faulty or sound", (SOUND, FAULTY))):
        coded = pairs if name == "verdicts" else pairs.where(pairs == SOUND, FAULTY)
        codes = [pd.Categorical(coded[place], list(categories)).codes for place in (1, 2)]
        rows += _agreement_rows(name, codes, len(categories), clusters, options)
    columns = ["categories", "measure", "n", "value", "ci_low", "ci_high"]
    return pd.DataFrame(rows, columns=columns)


def _agreement_rows(
    name: str, codes: Sequence[Ints], k: int, clusters: Ints, options: Options
) -> Iterator[tuple[object, ...]]:
    """Yield agreement, kappa and Brennan-Prediger, each with its interval."""
    n_clusters = len(np.unique(clusters))
    cells = np.zeros((n_clusters, k * k))
    np.add.at(cells, (clusters, codes[0] * k + codes[1]), 1)
    weights = resample_weights(max(n_clusters, 1), options.bootstrap, options.seed)
    drawn = _review_coefficients((weights[:, :n_clusters] @ cells).reshape(-1, k, k))
    estimates = _review_coefficients(cells.sum(axis=0).reshape(1, k, k))
    for measure, value in estimates.items():
        low, high, _ = percentile_limits(drawn[measure], options.alpha, np.array(n_clusters))
        yield name, measure, len(clusters), value[0], float(low), float(high)


def _review_coefficients(tables: Floats) -> dict[str, Floats]:
    """Return the measures of agreement between two verdicts; `tables` has shape (n, k, k)."""
    n, k = tables.sum(axis=(1, 2)), tables.shape[1]
    observed = ratio(np.trace(tables, axis1=1, axis2=2), n)
    shares = ratio(tables.sum(axis=1) + tables.sum(axis=2), 2 * n[:, None])
    return {
        "agreement": observed,
        "kappa": above_chance(observed, (shares**2).sum(axis=1)),
        "Brennan-Prediger": above_chance(observed, np.full_like(observed, 1 / k)),
    }


def _read_table(path: Path, required: Sequence[str]) -> pd.DataFrame:
    try:
        content = path.read_bytes()
    except OSError as error:
        remedy = "Give a CSV file"
        fault = f"cannot be read ({error.strerror})"
        raise BundleError([Fault(file=path.name, row=None, what=fault, remedy=remedy)]) from error
    table, faults = parse_csv(path.name, content, required)
    if faults:
        raise BundleError(faults)
    return table.assign(**unescape_table(table.drop(columns="row")))


def _faults_in_column(
    file: str, table: pd.DataFrame, is_faulty_cell: pd.Series[bool], column: str, remedy: str
) -> list[Fault]:
    return [
        Fault(file=file, row=int(row), what=f"the {column} is {quoted(value)}", remedy=remedy)
        for row, value in table.loc[is_faulty_cell, ["row", column]].itertuples(index=False)
    ]


_LEVEL_WORDS = {
    "correct": later("Correct"),
    "partly correct": later("Partly correct"),
    "incorrect": later("Incorrect"),
}


def scoring_table(results: Results) -> Iterator[ReportTable]:
    """Show the agreement between the scorers."""
    by_row = rows_by(results, "open_scoring", ("kind",), of="measure", scorer="")
    yield report_table(
        name="open-scoring",
        title=t("Agreement of the scorers"),
        note=t(
            "Of the two blind scores: how many are the same, kappa with linear weights, and"
            " Brennan-Prediger. A third scorer is needed where they differ."
        ),
        header=(
            t("Kind"),
            "n",
            t("Same, %"),
            t("Weighted kappa"),
            t("Brennan-Prediger"),
            t("Third needed, %"),
        ),
        rows=[
            (
                (row_label(translated(KIND_WORDS[kind])),),
                (
                    f"{int(cell_number(measures[RAW], 'n')):,}",
                    percent_with_range(measures[RAW], "estimate"),
                    estimate_of(measures[KAPPA]),
                    estimate_of(measures[BRENNAN]),
                    percent_cell(cell_number(measures[THIRD], "estimate")),
                ),
            )
            for (kind,), measures in by_row.items()
        ],
    )


def scorers_table(results: Results) -> Iterator[ReportTable]:
    """Show how often each scorer gave each level."""
    by_row = rows_by(results, "open_scoring", ("kind", "scorer"), of="level", measure=LEVEL)
    yield report_table(
        name="open-scorers",
        title=t("Levels each scorer gave"),
        note=t("Share of a scorer's scores, percent with Wilson's interval."),
        header=(
            t("Scorer"),
            t("Kind"),
            "n",
            *(translated(_LEVEL_WORDS[level]) for level in LEVELS),
        ),
        rows=[
            (
                (row_label(scorer),),
                (
                    translated(KIND_WORDS[kind]),
                    f"{int(cell_number(measures[LEVELS[0]], 'n')):,}",
                    *(percent_with_range(measures[level], "estimate") for level in LEVELS),
                ),
            )
            for (kind, scorer), measures in by_row.items()
        ],
    )


OPEN_SCORING = Statistic(
    name="open_scoring",
    meaning="Agreement of the scorers of answers in words, or how often a scorer gave a level.",
    columns=(
        Column("kind", "`answer` or `explanation`."),
        Column("scorer", "Scorer; empty for the agreement of the two blind scores."),
        *shared_columns("measure"),
        Column("level", "Level that the scorer gave; empty for agreement."),
        Column("n", "Scores; for agreement, answers with two scores.", "count"),
        Column("n_found", "Scores, or answers, that the estimate counts.", "count"),
        *shared_columns("estimate se ci_low ci_high method undefined_because"),
    ),
    compute=open_scoring,
    applies=has_open_scores,
    methods={
        220: Method(
            "Answers without options",
            "Agreement of the two blind scores is kappa with linear weights for neighbouring"
            " levels [@cohen1968] and the chance of interchangeable scorers [@fleiss1971];"
            " also reported are raw agreement and Brennan-Prediger [@brennan1981].",
        )
    },
    tables={114: scoring_table, 116: scorers_table},
)
