"""What the protocol in a bundle states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.errors import OptionsError
from analysis.options import Options


def stated(protocol: Mapping[str, Any], key: str) -> Any:
    """Return what the protocol states under `key`, None where it does not.

    An export wraps the protocol (`{"sha256": ..., "locked": {"protocol": ...}}`), so the parts
    that may hold it are looked at as well as the top: first what is in force after amendments.

    Examples
    --------
    >>> stated({"locked": {"protocol": {"margin": 0.05}}, "in_force": {"margin": 0.1}}, "margin")
    0.1
    >>> stated({"sha256": "ab", "locked": {"protocol": {"margin": 0.05}}}, "margin")
    0.05
    """
    if key in protocol:
        return protocol[key]
    parts = (protocol.get(part) for part in ("in_force", "locked", "protocol"))
    found = (stated(part, key) for part in parts if isinstance(part, dict))
    return next((value for value in found if value is not None), None)


def n_amendments(protocol: Mapping[str, Any]) -> int | None:
    """Return how often the protocol was amended, None where the input does not tell.

    Examples
    --------
    >>> n_amendments({"amendments": [{"number": 1}]}), n_amendments({})
    (1, None)
    """
    found = protocol.get("amendments")
    return len(found) if isinstance(found, list) else None


def declared(protocol: Mapping[str, Any]) -> str:
    """Return what the protocol declared the study to show, in words; empty where nothing.

    Examples
    --------
    >>> declared({"endpoint": "accuracy", "hypothesis": "non-inferiority", "margin": 0.05})
    'accuracy; non-inferiority with a margin of 0.05'
    >>> declared({"endpoint": ""})
    ''
    """
    endpoint, hypothesis, about = (
        str(stated(protocol, key) or "") for key in ("endpoint", "hypothesis", "claim_about")
    )
    margin = stated(protocol, "margin")
    if hypothesis == "non-inferiority" and isinstance(margin, int | float):
        hypothesis += f" with a margin of {margin:g}"
    parts = (endpoint, hypothesis, f"a claim about {about}" if about else "")
    return "; ".join(part for part in parts if part)


def margin_of(options: Options, protocol: Mapping[str, Any]) -> float | None:
    """Return the non-inferiority margin asked for, else the protocol's, else None.

    Raises
    ------
    OptionsError
        When the protocol's is no proportion.

    Examples
    --------
    >>> margin_of(Options(), {"margin": 0.05}), margin_of(Options(margin=0.1), {"margin": 0.05})
    (0.05, 0.1)
    """
    if options.margin is not None:
        return options.margin
    planned = stated(protocol, "margin")
    if not isinstance(planned, int | float) or isinstance(planned, bool):
        return None
    if not 0 <= planned < 1:
        raise OptionsError(
            f"protocol.json: margin is {planned}, which is no proportion from 0 to below 1. Correct"
            " it, or give --margin."
        )
    return float(planned)
