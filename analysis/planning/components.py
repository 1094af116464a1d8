"""Variance components for planning a study, from a TOML file or a publication."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from analysis.errors import AnalysisError, OptionsError, quoted
from analysis.statistics.merits import Metric


class Comparison(StrEnum):
    """The comparison for which a study is planned."""

    CONDITIONS = "conditions"
    PANEL = "panel"


READER_CORRELATION = 0.8
"""Assumed correlation of a reader's true values under two conditions if `var_r` is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """Obuchowski-Rockette variance components and the size of the study they were estimated from.

    Parameters
    ----------
    metric : Metric
        The figure of merit.
    readers, cases : int
        Size of the study that the components were estimated from, each 2 or more.
    var_error, cov1, cov2, cov3 : float
        Error variance and covariances at that number of cases: of one reading; of one reader under
        two conditions; of two readers under one condition; of two readers under two conditions.
        For the comparison `panel` they are components of the differences model minus reader, and
        `cov1` and `cov3` are 0.
    var_tr : float
        Variance of the readers' true differences between conditions (interaction of reader and
        condition). For the comparison `panel`: variance of the true differences model minus reader.
    var_r : float or None
        Variance between readers that is the same under both conditions. Parallel arms need it.
    clusters : int or None
        Number of patients in that study, if they have several cases.
    own_df, joint_df : float or None
        Degrees of freedom of the error that a reader does not share with others, and of the joint
        error of all readers, as estimated from their variation over patients; None: those of
        normal errors.
    source : str
        Origin of the components, for messages.
    """

    metric: Metric
    readers: int
    cases: int
    var_error: float
    cov1: float
    cov2: float
    cov3: float
    var_tr: float
    var_r: float | None = None
    clusters: int | None = None
    own_df: float | None = None
    joint_df: float | None = None
    source: str = ""


PLANNABLE_METRICS = (Metric.ACCURACY, Metric.AUC)
"""The metrics for which a study can be planned."""

PUBLISHED: Mapping[str, Components] = {
    "van-dyke": Components(
        metric=Metric.AUC,
        readers=5,
        cases=114,
        var_error=0.00080228827,
        cov1=0.00034661371,
        cov2=0.00034407483,
        cov3=0.00023902837,
        var_tr=0.00020040252,
        var_r=0.00153499935,
        source=(
            "Van Dyke et al. 1993 (cine and spin-echo MRI of aortic dissection, empirical AUC,"
            " jackknife); components of Hillis, Obuchowski and Berbaum 2011"
            " (doi:10.1016/j.acra.2010.09.007) as in RJafroc"
        ),
    ),
    "zanca": Components(
        metric=Metric.AUC,
        readers=4,
        cases=200,
        var_error=0.0007307912,
        cov1=0.0002083377,
        cov2=0.0002388384,
        cov3=0.0001906167,
        var_tr=0.0001526507,
        var_r=0.0008277380,
        source=(
            "Zanca et al. 2009 (image processing in mammography, conditions 4 and 5, highest-rating"
            " AUC; doi:10.1118/1.3077121); components as in RJafroc"
        ),
    ),
}
"""Published components of two conditions, by name."""

OPTIONAL_KEYS = ("var_r", "own_df", "joint_df")
"""Keys that a components file may omit."""

_REQUIRED_KEYS = ("var_tr", "cov1", "cov2", "cov3", "var_error", "readers", "cases", "metric")


def read_components(path: Path) -> Components:
    """Read a components file.

    Parameters
    ----------
    path : pathlib.Path
        TOML with the keys `var_tr, cov1, cov2, cov3, var_error, readers, cases, metric` and
        optionally `OPTIONAL_KEYS`.

    Raises
    ------
    AnalysisError
        The file cannot be read, or a key is missing, unknown or has a value out of range; all
        errors are listed.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise AnalysisError(f"{path}: does not exist. Give a TOML file of components.") from error
    except (OSError, ValueError) as error:
        raise AnalysisError(f"{path}: cannot be read as TOML ({error}).") from error
    return components_from(values, source=str(path))


def components_from(values: Mapping[str, Any], source: str) -> Components:
    """Check variance components that were read from a file or a form.

    Parameters
    ----------
    values : mapping of str to value
        The values by their key in a components file.
    source : str
        Name of the file or form in error messages.

    Raises
    ------
    AnalysisError
        A key is missing, unknown or has a value out of range; all errors are listed.

    Examples
    --------
    >>> components_from({"metric": "AUC"}, "pilot.toml")
    Traceback (most recent call last):
        ...
    analysis.errors.AnalysisError: pilot.toml: metric = “AUC”: give accuracy or auc.
    pilot.toml: missing key(s): var_tr, cov1, cov2, cov3, var_error, readers, cases.
    """
    faults = [fault for key, value in values.items() if (fault := _key_fault(key, value))]
    if missing := [key for key in _REQUIRED_KEYS if key not in values]:
        faults.append(f"missing key(s): {', '.join(missing)}.")
    if not faults and values["var_error"] < max(values[key] for key in ("cov1", "cov2", "cov3")):
        faults.append("var_error is smaller than a covariance; check that keys are not swapped.")
    if faults:
        raise AnalysisError("\n".join(f"{source}: {fault}" for fault in faults))
    return Components(**{**values, "metric": Metric(values["metric"]), "source": source})


def _key_fault(key: str, value: Any) -> str:
    """Return the error of a key of a components file; empty if the key is valid."""
    if key == "metric":
        known = value in PLANNABLE_METRICS
        return "" if known else f"metric = {quoted(value)}: give {' or '.join(PLANNABLE_METRICS)}."
    if key in ("readers", "cases"):
        valid = isinstance(value, int) and not isinstance(value, bool) and value >= 2
        return "" if valid else f"{key} = {quoted(value)}: give a whole number, 2 or larger."
    if key not in (*_REQUIRED_KEYS, *OPTIONAL_KEYS):
        return f"{key}: unknown key. Keys: {', '.join((*_REQUIRED_KEYS, *OPTIONAL_KEYS))}."
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value):
        return f"{key} = {quoted(value)}: give a number."
    if key == "var_error" and value <= 0:
        return f"var_error = {quoted(value)}: give a variance above 0."
    if key in ("own_df", "joint_df") and value < 1:
        return f"{key} = {quoted(value)}: give 1 or more degrees of freedom."
    return ""


def published_components(name: str, comparison: Comparison) -> Components:
    """Return a published set of components, converted for a comparison.

    Parameters
    ----------
    name : str
        A key of `PUBLISHED`.
    comparison : Comparison
        For `panel`, `panel_components` converts the set.

    Raises
    ------
    OptionsError
        No published set has this name.
    """
    if name not in PUBLISHED:
        raise OptionsError(
            f"published {quoted(name)} is not known; give one of {', '.join(PUBLISHED)}"
        )
    return components_for(PUBLISHED[name], comparison)


def components_for(components: Components, comparison: Comparison) -> Components:
    """Return components for a comparison; a panel needs a conversion of those of two conditions.

    Parameters
    ----------
    components : Components
        Components of two conditions, or of the differences model minus reader (`cov1` and `cov3`
        are 0).
    comparison : Comparison
        The comparison.
    """
    is_of_conditions = bool(components.cov1 or components.cov3)
    convert = comparison is Comparison.PANEL and is_of_conditions
    return panel_components(components) if convert else components


def panel_components(components: Components) -> Components:
    r"""Convert components of two conditions to those of a model minus each reader.

    Parameters
    ----------
    components : Components
        Components of readers under two conditions; `reader_variance` replaces a missing `var_r`.

    Notes
    -----
    The model is treated as a fixed rater with the error variance of a reader. Its errors correlate
    with a reader's like those of another reader under another condition. With
    :math:`\psi_j` model minus reader j: :math:`Var(\psi_j) = 2 (Var - Cov_3)`,
    :math:`Cov(\psi_j, \psi_k) = Var + Cov_2 - 2 Cov_3`, and the true differences vary by
    :math:`\sigma^2_R + \sigma^2_{TR}`.

    Examples
    --------
    >>> panel_components(PUBLISHED["van-dyke"]).cov2.__round__(7)
    0.0006683
    """
    var, cov2, cov3 = components.var_error, components.cov2, components.cov3
    return replace(
        components,
        var_error=2 * (var - cov3),
        cov1=0.0,
        cov2=var + cov2 - 2 * cov3,
        cov3=0.0,
        var_tr=components.var_tr + reader_variance(components),
        source=f"{components.source}; the model is taken as a reader under another condition",
    )


def reader_variance(components: Components) -> float:
    r"""Return the variance between readers that is the same under both conditions.

    Parameters
    ----------
    components : Components
        Components of readers under two conditions.

    Returns
    -------
    float
        `var_r`, or 0 if it is negative. If it is not known,
        :math:`\sigma^2_{TR}\, r / (1 - r)` with the correlation r = 0.8 of a reader's true values
        under two conditions, which is the default of MRMCsamplesize [1]_.

    References
    ----------
    .. [1] Robert D. MRMCsamplesize: sample size estimations for planning multi-reader multi-case
       studies without pilot data. R package 1.0.0. doi:10.32614/CRAN.package.MRMCsamplesize
    """
    if components.var_r is not None:
        return max(components.var_r, 0.0)
    return max(components.var_tr, 0.0) * READER_CORRELATION / (1 - READER_CORRELATION)
