"""How far scorers of answers in words agree: the table `open_scoring.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from analysis.arrays import Floats, Ints
from analysis.bundle.model import OPEN_KINDS, SCORES, Bundle
from analysis.options import Options
from analysis.readings.clusters import (
    PERCENTILE,
    WIDENED,
    is_widened,
    percentile_limits,
    ratio,
    resample_weights,
    too_few,
)
from analysis.statistics.accuracy.accuracy import WILSON
from analysis.statistics.accuracy.means import wilson_interval
from analysis.statistics.agreement.groups.coefficients import above_chance
from analysis.statistics.study import COLUMNS, Study, study_of
from analysis.translation import later

RAW, KAPPA, BRENNAN = "raw", "kappa_linear", "brennan_prediger"
THIRD, LEVEL = "third_needed", "level"
MEASURES = (RAW, KAPPA, BRENNAN, THIRD)
LEVELS = tuple(SCORES)
LINEARISED = later("linearised, t")
TWO_BLIND = later("no answer has two blind scores")
ONE_LEVEL = later("chance agreement is 1: every score is the same")
NO_VARIATION = later("standard error and interval: no variation between the answers")
ONE_UNIT = later("standard error and interval: all answers are to one item or patient")
FEW_RESAMPLES = later("interval: too many resamples leave it undefined")

_GAP = np.abs(np.subtract.outer(np.arange(len(LEVELS)), np.arange(len(LEVELS))))
CREDIT: Floats = 1 - _GAP / (len(LEVELS) - 1)
"""How far two levels agree: 1 the same, 0.5 next to each other, 0 the two ends."""


def has_open_scores(study: Study) -> bool:
    """Return whether any answer in words was scored."""
    return len(study.bundle.open_scores) > 0


def open_scoring(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Measure how far the two blind scores of an answer agree, and how each scorer scores.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables, with scores of answers in words.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        Columns `kind, scorer, measure, level, n, n_found, estimate, se, ci_low, ci_high, method,
        undefined_because`. For answers and for explanations: `raw`, `kappa_linear`,
        `brennan_prediger` and `third_needed` of the answers with two blind scores; then of every
        scorer how often each `level` was given, out of all their scores.

    Notes
    -----
    Which two scorers are blind to each other changes from answer to answer, and which of them is
    the first says nothing, so chance is that of interchangeable scorers: with the share
    :math:`\pi_k` of level k among all these scores and the credit :math:`w_{kl}`, 1 for the same
    level, 0.5 for neighbours, 0 for the ends [1]_, kappa is :math:`(p_o - p_e) / (1 - p_e)` with
    :math:`p_o` the mean credit and :math:`p_e = \sum_{kl} w_{kl} \pi_k \pi_l` [2]_. It is Cohen's
    weighted kappa of the pairs counted in both orders. Brennan-Prediger takes every level for
    equally likely, without credit for neighbours. Standard errors are linearised, sums of what
    each answer adds over patients (items, where no patient has several), C / (C - 1) of their
    variance. Intervals are percentiles over resampled patients or items; t with n - 1 degrees of
    freedom, cut at 1, where every answer is to another item of another patient.

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
        for kind in OPEN_KINDS
        for row in _of_kind(study, scores.loc[scores["kind"] == kind])
    ]
    return pd.DataFrame(rows, columns=COLUMNS["open_scoring"]).astype({"n_found": "Int64"})


def _of_kind(study: Study, scores: pd.DataFrame) -> Iterator[dict[str, Any]]:
    if not len(scores):
        return
    codes = scores.assign(code=scores["score"].map({name: i for i, name in enumerate(LEVELS)}))
    blind = codes.loc[codes["turn"] <= 2].pivot(index="answer_id", columns="turn", values="code")
    blind = blind.reindex(columns=[1, 2]).dropna()
    of = codes.drop_duplicates("answer_id").set_index("answer_id")["item_id"].loc[blind.index]
    items = pd.Index(study.matrix.item_ids).get_indexer(pd.Index(of))
    pairs: Ints = blind.to_numpy(dtype=np.int64)
    yield from _agreement(study, pairs, study.matrix.clusters[items])
    alpha = study.options.alpha
    for scorer, own in scores.groupby("scorer"):
        for level in LEVELS:
            n, n_found = len(own), int((own["score"] == level).sum())
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


def _agreement(study: Study, pairs: Ints, clusters: Ints) -> Iterator[dict[str, Any]]:
    n, k = len(pairs), len(LEVELS)
    if not n:
        for measure in MEASURES:
            yield {"measure": measure, "n": 0, "undefined_because": TWO_BLIND}
        return
    names, unit = np.unique(clusters, return_inverse=True)
    cells = np.zeros((len(names), k * k))
    np.add.at(cells, (unit, pairs[:, 0] * k + pairs[:, 1]), 1)
    whole = _coefficients(cells.sum(axis=0).reshape(1, k, k))
    added = _added(pairs, whole)
    alone = len(names) == n
    drawn = {} if alone else _drawn(study, cells, names)
    same = int((pairs[:, 0] == pairs[:, 1]).sum())
    for measure, value in whole.items():
        found = {RAW: same, THIRD: n - same}.get(measure)
        yield {
            "measure": measure,
            "n": n,
            "n_found": found,
            "estimate": value[0],
            **_uncertain(study, added[measure], unit, drawn.get(measure), value[0]),
        }


def _uncertain(
    study: Study, added: Floats, unit: Ints, drawn: Floats | None, estimate: float
) -> dict[str, Any]:
    """Return standard error and interval of a measure, from what each answer adds to it."""
    n, alpha, n_units = len(added), study.options.alpha, np.array(len(np.unique(unit)))
    found: dict[str, Any] = dict.fromkeys(("se", "ci_low", "ci_high"), np.nan)
    over = "patients" if study.weights is not None else "items"
    method = (WIDENED if is_widened(n_units) else PERCENTILE).replace("patients", over)
    found |= {"method": LINEARISED if drawn is None else method, "undefined_because": ""}
    if np.isnan(estimate):
        return found | {"undefined_because": ONE_LEVEL}
    sums = np.bincount(unit, weights=added)
    if n_units < 2 or np.abs(sums).max() < 1e-12:
        return found | {"undefined_because": ONE_UNIT if n_units < 2 else NO_VARIATION}
    found["se"] = float(np.sqrt(n_units / (n_units - 1) * (sums**2).sum()) / n)
    if drawn is None:
        reach = float(stats.t.ppf(1 - alpha / 2, n - 1)) * found["se"]
        return found | {"ci_low": estimate - reach, "ci_high": min(estimate + reach, 1.0)}
    low, high, _ = percentile_limits(drawn, alpha, n_units)
    few = too_few(int(n_units), clustered=over == "patients")
    because = f"interval: {few}" if few else FEW_RESAMPLES if np.isnan(low) else ""
    return found | {"ci_low": float(low), "ci_high": float(high), "undefined_because": because}


def _drawn(study: Study, cells: Floats, names: Ints) -> dict[str, Floats]:
    """Return every measure in every resample of patients, of items where none has several."""
    options, n = study.options, study.matrix.n_clusters
    weights = study.weights
    if weights is None:
        weights = resample_weights(n, options.bootstrap, options.seed)
    return _coefficients((weights[:, names] @ cells).reshape(-1, len(LEVELS), len(LEVELS)))


def _coefficients(tables: Floats) -> dict[str, Floats]:
    """Return what two scores agree by; `tables` is of shape (n, k, k)."""
    n, k = tables.sum(axis=(1, 2)), tables.shape[1]
    raw = ratio(np.trace(tables, axis1=1, axis2=2), n)
    credit = ratio((tables * CREDIT).sum(axis=(1, 2)), n)
    shares = ratio(tables.sum(axis=1) + tables.sum(axis=2), 2 * n[:, None])
    by_chance = (shares @ CREDIT * shares).sum(axis=1)
    return {
        RAW: raw,
        KAPPA: above_chance(credit, by_chance),
        BRENNAN: above_chance(raw, np.full_like(raw, 1 / k)),
        THIRD: 1 - raw,
    }


def _added(pairs: Ints, whole: dict[str, Floats]) -> dict[str, Floats]:
    """Return by how much each answer moves each measure, times the number of answers."""
    k = len(LEVELS)
    same = (pairs[:, 0] == pairs[:, 1]).astype(float)
    credit = CREDIT[pairs[:, 0], pairs[:, 1]]
    own = (np.eye(k)[pairs[:, 0]] + np.eye(k)[pairs[:, 1]]) / 2
    shares = own.mean(axis=0)
    above = 1 - shares @ CREDIT @ shares
    moved = (credit - credit.mean()) * above
    moved -= (1 - credit.mean()) * 2 * ((own - shares) @ CREDIT @ shares)
    raw = same - whole[RAW][0]
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa = moved / above**2
    return {RAW: raw, KAPPA: kappa, BRENNAN: raw / (1 - 1 / k), THIRD: -raw}
