"""Mixed model of response times: the table `time_model.csv`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.linalg import null_space
from scipy.stats import norm

from analysis.arrays import Bools, Floats
from analysis.bundle.model import Bundle, RaterKind
from analysis.figures.drawing.axes import condition_name
from analysis.options import Options
from analysis.presentation.table import (
    EMPTY_CELL,
    ReportTable,
    TableRow,
    condition_cell,
    p_cell,
    report_table,
    row_label,
    whole_number,
)
from analysis.presentation.wording import (
    Row,
    cell_number,
    decimals_for,
    format_number,
    format_range,
    rows_of,
)
from analysis.readings.circumstances import ReadingTimes
from analysis.readings.matrix import ReadingMatrix
from analysis.results import Results
from analysis.statistics.crossed import CrossedFit, fit_crossed
from analysis.statistics.statistic import Column, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.statistics.times import ANSWERED, session_order
from analysis.translation import later, t, translate_pieces, translated

BASELINE = "unaided"
TERM_KINDS = ("condition", "correct", "position", "session", "task")
NO_VALUE_REASONS = {
    "correct": later("no item has a reference standard"),
    "position": later("no reading gives its position"),
    "session": later("no reading names its session"),
    "task": later("no item names its task"),
}
NO_CONTRAST_REASONS = {
    "condition": later("all readings were made under one condition"),
    "correct": later("all answers are correct, or all are wrong"),
    "position": later("all readings have the same position in their session"),
    "session": later("all readings belong to one session"),
    "task": later("all items belong to one task"),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Term:
    """A fixed effect of the model.

    Parameters
    ----------
    name : str
        The contrast in words.
    condition : str
        The condition that is compared with the baseline; empty for other terms.
    values : numpy.ndarray of float, shape (n,), or None
        The term's column in the design; None if it has none.
    reason : str
        Why the term has no column.
    """

    name: str
    condition: str = ""
    values: Floats | None = None
    reason: str = ""


def modelled_readings(matrix: ReadingMatrix, times: ReadingTimes) -> pd.DataFrame:
    """Return the readings of the model, one per row, in order of item and column.

    Returns
    -------
    pandas.DataFrame
        Columns `response_ms`, `reader` (the reader's id), `item` (its position), and one for each
        of `TERM_KINDS`, None or nan if unknown. Only answered readings of readers are included.
    """
    reader = np.array([c.kind is RaterKind.READER for c in matrix.columns], dtype=bool)
    answered = matrix.statuses[times.item, times.column] == ANSWERED
    indices = np.flatnonzero(answered & reader[times.column])
    item, column = times.item[indices], times.column[indices]
    correct = np.where(
        matrix.has_truth[item], matrix.correct[item, column].astype(np.float64), np.nan
    )
    table = pd.DataFrame(
        {
            "response_ms": times.response_ms[indices],
            "reader": [matrix.columns[i].rater_id for i in column],
            "item": item,
            "column": column,
            "condition": [matrix.columns[i].condition for i in column],
            "correct": correct,
            "position": times.place[indices] / 10,
            "session": [name or None for name in times.session[indices]],
            "task": [name or None for name in matrix.groups["task"][item]],
        }
    )
    return table.sort_values(["item", "column"], ignore_index=True)


def complete_readings(readings: pd.DataFrame) -> pd.DataFrame:
    """Drop readings without a value that others have, and times of 0, which have no logarithm.

    Parameters
    ----------
    readings : pandas.DataFrame
        The result of `modelled_readings`.
    """
    kinds = [kind for kind in TERM_KINDS if readings[kind].notna().any()]
    is_complete = readings[kinds].notna().all(axis=1) & (readings["response_ms"] > 0)
    return readings.loc[is_complete].reset_index(drop=True)


def terms_of(readings: pd.DataFrame) -> list[Term]:
    """Return the terms in the order of the table.

    Parameters
    ----------
    readings : pandas.DataFrame
        The result of `complete_readings`.

    Returns
    -------
    list of Term
        At least one term for each of `TERM_KINDS`.
    """
    term_builders: Mapping[str, Callable[[pd.DataFrame], list[Term]]] = {
        "condition": _condition_terms,
        "correct": lambda r: [_numeric_term(later("correct against wrong"), r["correct"])],
        "position": lambda r: [_numeric_term(later("position, per 10 cases"), r["position"])],
        "session": lambda r: _level_terms(
            r, "session", session_order(r["session"].to_numpy(object))
        ),
        "task": lambda r: _level_terms(r, "task", sorted(r["task"].unique())),
    }
    return [
        term for kind in TERM_KINDS for term in _terms_of_kind(readings, kind, term_builders[kind])
    ]


def _terms_of_kind(
    readings: pd.DataFrame, kind: str, build_terms: Callable[[pd.DataFrame], list[Term]]
) -> list[Term]:
    if readings[kind].isna().all():
        return [Term(name=kind, reason=NO_VALUE_REASONS[kind])]
    if readings[kind].nunique() < 2:
        return [Term(name=kind, reason=NO_CONTRAST_REASONS[kind])]
    return build_terms(readings)


def _condition_terms(readings: pd.DataFrame) -> list[Term]:
    names = sorted(readings["condition"].unique(), key=lambda name: (name != BASELINE, name))
    return _level_terms(readings, "condition", names)


def _level_terms(readings: pd.DataFrame, kind: str, names: list[str]) -> list[Term]:
    return [
        Term(
            name=f"{kind} {name or '(none)'} against {names[0] or '(none)'}",
            condition=name if kind == "condition" else "",
            values=np.asarray(readings[kind] == name, dtype=np.float64),
        )
        for name in names[1:]
    ]


def _numeric_term(name: str, values: pd.Series[float]) -> Term:
    return Term(name=name, values=np.asarray(values, dtype=np.float64))


def sides_of(terms: Sequence[Term], term: Term) -> list[Bools]:
    """Return the readings at each level of a term, or all readings if the term is numeric.

    The second level is the reference level, at which all terms of the same kind are 0.

    Examples
    --------
    >>> terms = [Term(name=f"task {name} against a", values=np.array(values))
    ...          for name, values in (("b", [0.0, 1.0, 0.0]), ("c", [0.0, 0.0, 1.0]))]
    >>> [side.tolist() for side in sides_of(terms, terms[1])]
    [[False, False, True], [True, False, False]]
    """
    kind = term.name.split()[0]
    values_of_kind = [other.values for other in terms if other.name.split()[0] == kind]
    values = np.array([each for each in values_of_kind if each is not None])
    term_values = np.asarray(term.values)
    if not np.isin(values, (0, 1)).all():
        return [np.ones(len(term_values), dtype=np.bool_)]
    return [term_values == 1, ~values.any(axis=0)]


METHOD = (
    "linear mixed model of log times, readers and items crossed (REML); Wald, normal; these readers"
)
TOO_FEW = later("fewer readings with a time than the model has terms")
NO_SPREAD = "the model leaves no residual variance, or finds no optimum"
TOO_LARGE = "more readings, times readers, than the model is fitted to"


# Largest size of the design with the readers' indicators: half a gigabyte.
LARGEST_LAYOUT = 2**26


# Relative size below which an entry of a null vector is taken as 0.
ZERO_TOLERANCE = 1e-8


def time_model(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate the effects of condition, correctness, position, session and task on times.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        Columns `term, condition, n, estimate, se, ratio, ci_low, ci_high, p, method,
        undefined_because`; estimate and standard error are natural logarithms, ratio and interval
        are factors. Rows are in the order of condition, correctness, position, session and task.
        The table is empty if no reader has a measured time.

    Notes
    -----
    The model is :math:`\ln t = x'\beta + u_{reader} + v_{item} + e`, with normal and independent
    random terms. It is fitted by restricted maximum likelihood to the readers' answered first
    readings, including flagged ones. Times of 0 are dropped, and so are readings without a value
    that other readings have. `ratio` is :math:`e^\beta`; 1.2 means a fifth longer. Intervals and
    p-values are Wald's with normal quantiles. Readers have random intercepts but not random slopes,
    so that the intervals apply to these readers. Faster correct answers do not mean that speed
    improves accuracy: difficult items take longer and are missed more often.

    A term without contrast, or one that is confounded with others (for example if all unaided
    readings are in session 1), is undefined. Conditions are compared with `unaided` if it exists,
    else with the first by name; sessions and tasks with their first.

    See Also
    --------
    analysis.statistics.crossed.fit_crossed

    References
    ----------
    .. [1] Baayen RH, Davidson DJ, Bates DM. Mixed-effects modeling with crossed random effects for
       subjects and items. J Mem Lang 2008;59:390-412. doi:10.1016/j.jml.2007.12.005

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = time_model(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("abcd"), "truth": list("AAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": ["R1"] * 4 + ["R2"] * 4, "item_id": list("abcd") * 2,
    ...         "answer": list("AABB") + list("ABAB"),
    ...         "response_ms": [900, 1100, 1900, 2100, 1400, 3000, 1600, 3100],
    ...     }),
    ... ))
    >>> table["term"].tolist()
    ['condition', 'correct against wrong', 'position', 'session', 'task']
    >>> round(float(table["ratio"][1]), 3), table["undefined_because"][2]
    (0.553, 'no reading gives its position')
    """
    study = study_of(study, options)
    matrix, circumstances, options = study.matrix, study.circumstances, study.options
    readings_modelled = modelled_readings(matrix, circumstances)
    if readings_modelled.empty:
        return pd.DataFrame(columns=TIME_MODEL.header)
    readings = complete_readings(readings_modelled)
    n_zero_times = int((readings_modelled["response_ms"] == 0).sum())
    terms = terms_of(readings) if len(readings) else []
    rows = _term_rows(readings, terms, options.alpha)
    table = pd.DataFrame(rows, columns=TIME_MODEL.header)
    table["method"] = METHOD + (f"; times of 0 left out: {n_zero_times}" if n_zero_times else "")
    return table


def _term_rows(
    readings: pd.DataFrame, terms: Sequence[Term], alpha: float
) -> list[dict[str, object]]:
    usable = [i for i, term in enumerate(terms) if term.values is not None]
    columns = [terms[i].values for i in usable]
    design = np.column_stack([np.ones(len(readings)), *(v for v in columns if v is not None)])
    reason = {i: terms[i].reason for i in range(len(terms)) if i not in usable}
    is_inestimable, is_kept, is_confounded = _estimability(design)
    reason |= {
        i: _undefined_reason(terms, usable, is_confounded, k)
        for k, i in enumerate(usable)
        if is_inestimable[k + 1]
    }
    fit, failure = _fit_or_reason(readings, design[:, is_kept])
    place = np.cumsum(is_kept) - 1
    rows: list[dict[str, object]] = []
    for i, term in enumerate(terms):
        row: dict[str, object] = {
            "term": term.name,
            "condition": term.condition,
            "n": len(readings),
            "undefined_because": reason.get(i, "" if fit else failure),
        }
        if fit and i not in reason:
            row |= _estimate_cells(fit, int(place[usable.index(i) + 1]), alpha)
        rows.append(row)
    return rows


def _fit_or_reason(readings: pd.DataFrame, design: Floats) -> tuple[CrossedFit | None, str]:
    n, p = design.shape
    if n <= p:
        return None, TOO_FEW
    if n * (p + readings["reader"].nunique()) > LARGEST_LAYOUT:
        return None, TOO_LARGE
    return _fit(readings, design), NO_SPREAD


def _fit(readings: pd.DataFrame, design: Floats) -> CrossedFit | None:
    outcome = np.log(readings["response_ms"].to_numpy(dtype=np.float64))
    readers = np.unique(readings["reader"], return_inverse=True)[1].astype(np.int64)
    items = readings["item"].to_numpy(dtype=np.int64)
    # Centring changes only the intercept, and improves the precision of small differences.
    centred = design - np.append(0.0, design[:, 1:].mean(axis=0))
    return fit_crossed(outcome - outcome.mean(), centred, readers, items)


def _estimate_cells(fit: CrossedFit, place: int, alpha: float) -> dict[str, object]:
    estimate = float(fit.estimates[place])
    se = float(np.sqrt(fit.covariance[place, place]))
    half_width = float(norm.isf(alpha / 2)) * se
    return {
        "estimate": estimate,
        "se": se,
        "ratio": float(np.exp(estimate)),
        "ci_low": float(np.exp(estimate - half_width)),
        "ci_high": float(np.exp(estimate + half_width)),
        "p": float(2 * norm.sf(abs(estimate) / se)),
    }


def _estimability(design: Floats) -> tuple[Bools, Bools, Bools]:
    """Return the columns that cannot be estimated, those to keep, and the confounded pairs.

    Coefficients with a nonzero entry in a null vector of the design are not estimable; the others
    do not depend on the choice of columns that give it full rank.
    """
    scaled = np.linalg.qr(design / np.sqrt((design**2).sum(axis=0))).R
    basis = null_space(scaled, rcond=ZERO_TOLERANCE)
    projection = np.abs(basis @ basis.T) > ZERO_TOLERANCE
    columns: list[int] = []
    for j in range(design.shape[1]):
        if np.linalg.matrix_rank(scaled[:, [*columns, j]], tol=ZERO_TOLERANCE) > len(columns):
            columns.append(j)
    return projection.diagonal(), np.isin(np.arange(design.shape[1]), columns), projection


def _undefined_reason(
    terms: Sequence[Term], usable: Sequence[int], is_confounded: Bools, k: int
) -> str:
    others = [terms[i].name for j, i in enumerate(usable) if j != k and is_confounded[k + 1, j + 1]]
    return f"cannot be distinguished from {'; '.join(others)}" if others else "has no contrast"


def time_model_table(results: Results) -> Iterator[ReportTable]:
    """Show the terms of the time model as factors."""
    rows: list[TableRow] = [
        (
            (row_label(term_words(str(row["term"]))),),
            (
                condition_cell(str(row["condition"])),
                whole_number(cell_number(row, "n"))
                if not math.isnan(cell_number(row, "n"))
                else EMPTY_CELL,
                *_factor_cells(row),
                p_cell(cell_number(row, "p")),
                translate_pieces(str(row["undefined_because"] or "")),
            ),
        )
        for row in rows_of(results, "time_model")
    ]
    table = report_table(
        name="time-model",
        title=t("Factors associated with reading time"),
        note=t(
            "Factors by which the time is multiplied, from a linear mixed model of log times with"
            " readers and cases crossed; n: readings. The intervals are about these readers, whose"
            " effects are taken as equal."
        ),
        header=(t("Term"), t("Condition"), "n", t("Factor"), t("CI"), "p", t("Undefined because")),
        rows=rows,
    )
    has_reasons = any(cells[-1] for _, cells in table.rows)
    yield table if has_reasons else table.without_column(t("Undefined because"))


def _factor_cells(row: Row) -> tuple[str, str]:
    ratio, low, high = (cell_number(row, column) for column in ("ratio", "ci_low", "ci_high"))
    if math.isnan(low) or math.isnan(high):
        return format_number(ratio, 2), EMPTY_CELL
    decimals = decimals_for([low, high], [1.0], 2)
    return format_number(ratio, decimals), format_range(
        format_number(low, decimals), format_number(high, decimals)
    )


CONTRASTS = {
    "condition": later("condition {name} against {other}"),
    "session": later("session {name} against {other}"),
    "task": later("task {name} against {other}"),
}


def term_words(term: str) -> str:
    """Return the words for a term of the time model, in the current language."""
    kind, _, levels = term.partition(" ")
    name, against, other = levels.rpartition(" against ")
    if kind not in CONTRASTS or not against:
        return translate_pieces(term)
    if kind == "condition":
        name, other = (
            t("(none)") if level == "(none)" else condition_name(level) for level in (name, other)
        )
    return translated(CONTRASTS[kind]).format(name=name, other=other)


TIME_MODEL = Statistic(
    name="time_model",
    meaning="A term of the linear mixed model of log response times.",
    columns=(
        Column("term", "What is compared, such as `correct against wrong`."),
        Column("condition", "The condition compared with the baseline; empty for other terms."),
        Column("n", "Readings in the model.", "count"),
        Column("estimate", "Coefficient of the term.", "log of a factor"),
        *shared_columns("se"),
        Column("ratio", "Factor by which the time is multiplied.", "factor"),
        Column("ci_low", "Lower limit of the confidence interval of `ratio`.", "factor"),
        Column("ci_high", "Upper limit of the confidence interval of `ratio`.", "factor"),
        *shared_columns("p method undefined_because"),
    ),
    compute=time_model,
    methods={
        620: Method(
            "Models of readings and times",
            "Their logarithms are modelled with readers and cases crossed as random effects;"
            " estimates are given as factors, with intervals for these readers, whose effects are"
            " taken as equal [@baayen2008; @bates2015].",
        )
    },
    tables={230: time_model_table},
)
