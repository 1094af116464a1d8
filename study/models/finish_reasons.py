"""Determines from a harness's records whether a model's output was cut off."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from study.tables.columns import plain_key
from study.tables.values import is_missing

CUT_OFF = "cut off"
"""Reason for an unparsed output: it was cut off at a limit."""

EMPTY = "empty output"
"""Reason for an unparsed output: the model finished without text."""

FINISH_KEYS = (
    *("finish_reason", "stop_reason", "done_reason", "finish", "stop", "stop_type"),
    *("finish_type", "completion_reason", "termination_reason"),
    *("finish_reasons", "stop_reasons", "finish_details", "incomplete_details"),
)
"""Names of the field that states why an output ended."""

_CUT_OFF_FLAG = re.compile(
    r"(is|was|output|response)*(truncated|cutoff|incomplete)|stoppedlimit"
    r"|(hit|reached)(the)?(max|token)?(length|limit|tokens|tokenlimit|maxtokens)"
    r"|(max)?(token|length)s?(limit)?(hit|reached)"
)
_FINISHED_FLAG = re.compile(
    r"(is|has|hit|reached|endedwith)?(eos|finished|complete|done)(reached)?"
)
"""Names of flags of cut-off outputs and of finished outputs, as `plain_key` returns them."""

_LIMIT_CODES = {2: "MAX_TOKENS", "2": "MAX_TOKENS"}
"""Gemini's numeric codes for a token limit; other providers' finish reasons are words."""

_NESTED_KEYS = ("details", "meta_info", "response_metadata", "generation_info", "metadata")
_LIMIT_KEYS = frozenset(
    ("maxtokens", "maxnewtokens", "maxgentoks", "maxcompletiontokens", "maxoutputtokens")
)
_COUNT_KEYS = frozenset(
    ("outputtokens", "completiontokens", "generatedtokens", "candidatestokencount")
)
_CUT_OFF_REASON = re.compile(
    r"length|max\w*tok|maxlen|truncat|incomplete|tokenlimit|windowexceeded|contextlimit"
    r"|exceeded|toolong|budget|limitreached|reachedlimit|abort|cancel|timeout|timedout|\Aerror"
    r"|\Alimit\Z|\Acutoff\Z|contentfilter|\Asafety\Z|recitation|blocklist|prohibitedcontent|\Aspii\Z"
)
_MAX_DEPTH = 6


def is_cut_off(reason: object) -> bool:
    """Return whether a finish reason is a limit, an interruption, or a filter of the provider.

    Examples
    --------
    >>> [is_cut_off(reason) for reason in ("length", "MAX_TOKENS", {"type": "length"}, "stop")]
    [True, True, True, False]
    """
    if isinstance(reason, Mapping):
        return any(is_cut_off(reason.get(key)) for key in ("type", "reason", "finish_reason"))
    if isinstance(reason, list):
        return any(map(is_cut_off, reason))
    return isinstance(reason, str) and bool(_CUT_OFF_REASON.search(plain_key(reason)))


def finish_reason(record: Mapping[str, Any]) -> object:
    """Return the finish reason of a record's output, or None if there is none.

    The reason is the value of one of `FINISH_KEYS`, in the record or in `details` and similar
    objects. Without one, it is derived from a flag such as `truncated`, a `status` such as
    `incomplete`, or a token count that reached the recorded limit.
    """
    plain = {plain_key(key): value for key, value in record.items()}
    for key in FINISH_KEYS:
        reason = plain.get(plain_key(key))
        if isinstance(reason, int | str) and reason in _LIMIT_CODES:
            return _LIMIT_CODES[reason]
        if isinstance(reason, str | Mapping | list) and not is_missing(reason):
            return reason
    for key in _NESTED_KEYS:
        inside = plain.get(plain_key(key))
        if isinstance(inside, Mapping) and (reason := finish_reason(inside)):
            return reason
    if any(_is_cut_off_flag(key, value) for key, value in plain.items()):
        return "length"
    if isinstance(status := plain.get("status"), str) and is_cut_off(status):
        return status
    limits = list(_numbers(record, _LIMIT_KEYS))
    counts = list(_numbers(record, _COUNT_KEYS))
    is_limit_reached = len(set(limits)) == 1 and len(counts) == 1 and 0 < limits[0] <= counts[0]
    return "length" if is_limit_reached else None


def _is_cut_off_flag(key: str, value: object) -> bool:
    """Return whether a field states that an output was cut off, or that it was not finished."""
    word = str(value).strip().lower() if isinstance(value, bool | int | str) else ""
    if word in ("true", "yes", "1"):
        return _CUT_OFF_FLAG.fullmatch(key) is not None
    return word in ("false", "no", "0") and _FINISHED_FLAG.fullmatch(key) is not None


def _numbers(value: object, keys: frozenset[str], depth: int = 0) -> Iterator[float]:
    """Yield the numbers stored under any of these keys, including nested ones."""
    if depth > _MAX_DEPTH:
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
