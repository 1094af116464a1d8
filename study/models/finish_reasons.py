"""Tells from what a harness records whether a model's output was cut off at a token limit."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from study.tables.columns import plain_key
from study.tables.values import missing

CUT_OFF = "cut off"
"""Why an output is unparsed: it ends at a limit and not where the model ended it."""

EMPTY = "empty output"
"""Why an output is unparsed: the model ended it, and said nothing."""

FINISH_KEYS = (
    *("finish_reason", "stop_reason", "done_reason", "finish", "stop", "stop_type"),
    *("finish_type", "completion_reason", "termination_reason"),
)
"""Names of the field that says why an output ended."""

_TRUNCATED_KEYS = frozenset(
    ("truncated", "istruncated", "outputtruncated", "cutoff", "stoppedlimit", "hitmaxtokens")
)
_NESTED = ("details", "meta_info", "response_metadata", "generation_info", "metadata")
_LIMIT_KEYS = frozenset(
    ("maxtokens", "maxnewtokens", "maxgentoks", "maxcompletiontokens", "maxoutputtokens")
)
_COUNT_KEYS = frozenset(
    ("outputtokens", "completiontokens", "generatedtokens", "candidatestokencount")
)
_CUT_OFF = re.compile(
    r"length|max\w*tok|maxlen|truncat|incomplete|tokenlimit|windowexceeded|contextlimit"
    r"|\Alimit\Z|\Acutoff\Z"
)
_DEEPEST = 6


def is_cut_off(reason: object) -> bool:
    """Return whether a reason for which an output ended is a limit on its length.

    Examples
    --------
    >>> [is_cut_off(reason) for reason in ("length", "MAX_TOKENS", {"type": "length"}, "stop")]
    [True, True, True, False]
    """
    if isinstance(reason, Mapping):
        return any(is_cut_off(reason.get(key)) for key in ("type", "reason", "finish_reason"))
    return isinstance(reason, str) and bool(_CUT_OFF.search(plain_key(reason)))


def finish_reason(record: Mapping[str, Any]) -> object:
    """Return why a record says that its output ended; None where it does not say.

    A reason under one of `FINISH_KEYS` counts first, also inside `details` and the like; else a
    flag such as `truncated`; else a token count that reached the limit beside it.
    """
    plain = {plain_key(key): value for key, value in record.items()}
    for key in FINISH_KEYS:
        reason = plain.get(plain_key(key))
        if isinstance(reason, str | Mapping) and not missing(reason):
            return reason
    for key in _NESTED:
        inside = plain.get(plain_key(key))
        if isinstance(inside, Mapping) and (reason := finish_reason(inside)):
            return reason
    if any(_is_true(plain.get(key)) for key in _TRUNCATED_KEYS):
        return "length"
    limits = list(_numbers(record, _LIMIT_KEYS))
    counts = list(_numbers(record, _COUNT_KEYS))
    reached = len(set(limits)) == 1 and len(counts) == 1 and 0 < limits[0] <= counts[0]
    return "length" if reached else None


def _is_true(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.strip().lower() in ("true", "yes"))


def _numbers(value: object, keys: frozenset[str], depth: int = 0) -> Iterator[float]:
    """Yield the numbers under some keys, at any depth."""
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if plain_key(str(key)) in keys:
                number = _number(inner)
                if number is not None:
                    yield number
            else:
                yield from _numbers(inner, keys, depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for inner in value[:50]:
            yield from _numbers(inner, keys, depth + 1)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None
