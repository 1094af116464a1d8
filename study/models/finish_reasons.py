"""Determines from a harness's records whether a model's output was cut off."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from study.tables.columns import plain_key
from study.tables.values import missing

CUT_OFF = "cut off"
"""Reason for an unparsed output: it was cut off at a limit."""

EMPTY = "empty output"
"""Reason for an unparsed output: the model finished without text."""

FINISH_KEYS = (
    *("finish_reason", "stop_reason", "done_reason", "finish", "stop", "stop_type"),
    *("finish_type", "completion_reason", "termination_reason"),
    *("finish_reasons", "stop_reasons", "finish_details", "incomplete_details"),
)
"""Names of the field with the reason why an output ended."""

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
    r"|\Alimit\Z|\Acutoff\Z|contentfilter|\Asafety\Z|recitation|blocklist|prohibitedcontent|\Aspii\Z"
)
_DEEPEST = 6


def is_cut_off(reason: object) -> bool:
    """Return whether a finish reason is a limit on the length, or a filter of the provider.

    Examples
    --------
    >>> [is_cut_off(reason) for reason in ("length", "MAX_TOKENS", {"type": "length"}, "stop")]
    [True, True, True, False]
    """
    if isinstance(reason, Mapping):
        return any(is_cut_off(reason.get(key)) for key in ("type", "reason", "finish_reason"))
    if isinstance(reason, list):
        return any(map(is_cut_off, reason))
    return isinstance(reason, str) and bool(_CUT_OFF.search(plain_key(reason)))


def finish_reason(record: Mapping[str, Any]) -> object:
    """Return the finish reason of a record's output, or None if there is none.

    The reason is the value of one of `FINISH_KEYS`, also inside `details` and similar objects;
    otherwise a flag such as `truncated`; otherwise a token count that reached the recorded limit.
    """
    plain = {plain_key(key): value for key, value in record.items()}
    for key in FINISH_KEYS:
        reason = plain.get(plain_key(key))
        if isinstance(reason, str | Mapping | list) and not missing(reason):
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
    """Yield the numbers under these keys, at any depth."""
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
