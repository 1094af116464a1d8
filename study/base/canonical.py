"""Canonical forms of stored and hashed values: JSON and its hash, times, random keys, valid text.

Equal values always give the same bytes. Random orders are reproducible as well: because a
library's generator may change between versions, items are sorted by SHA-256 values instead. To
check a draw by hand, sort the keys by ``sha256("seed/purpose/key")``.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from json import encoder as _json
from typing import Any

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)
_SCAN_JSON = json.JSONDecoder().scan_once  # type: ignore[attr-defined]

# `_ENCODER.encode` creates this encoder again for every value, which usually takes longer than the
# encoding.
_MAKE_JSON_PARTS = (
    _json.c_make_encoder  # type: ignore[attr-defined]
    and _json.c_make_encoder(  # type: ignore[attr-defined]
        *(None, _ENCODER.default, _json.encode_basestring, None),
        *(":", ",", True, False, False),
    )
)


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys, no spaces and no escapes beyond JSON's own.

    All hashes of the store and the bundle are hashes of this text, so anyone can recompute them
    with ``json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)``.

    >>> canonical_json({"b": 1, "a": ["é"]})
    '{"a":["é"],"b":1}'
    """
    return "".join(_MAKE_JSON_PARTS(value, 0)) if _MAKE_JSON_PARTS else _ENCODER.encode(value)


def canonical_json_of_each(
    values: Sequence[list[str] | tuple[str, ...] | dict[str, str]],
) -> list[str]:
    r"""Return the canonical JSON of each of several lists or objects, faster than one by one.

    >>> canonical_json_of_each([["a", "b"], ["],[", "c"]])
    ['["a","b"]', '["],[","c"]']
    """
    opening, closing = "{}" if values and isinstance(values[0], dict) else "[]"
    parts = canonical_json(values)[2:-2].split(f"{closing},{opening}")
    if len(parts) != len(values):  # a string contains the separator, or there are no values
        return list(map(canonical_json, values))
    return [f"{opening}{part}{closing}" for part in parts]


def parsed_json(text: str) -> Any:
    """Return the value of canonical JSON; faster than `json.loads`, but allows no spaces around it.

    >>> parsed_json('["a","b"]')
    ['a', 'b']
    """
    return _SCAN_JSON(text, 0)[0]


def sha256_of(value: Any) -> str:
    """Return the SHA-256 (64 hexadecimal digits) of a value's canonical JSON in UTF-8.

    >>> sha256_of({})[:12]
    '44136fa355b3'
    """
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()


def joint_sha256(hashes: Sequence[str]) -> str:
    """Return the hash of a file, or the hash of the hashes of several files, one per line."""
    if len(hashes) == 1:
        return hashes[0]
    return hashlib.sha256("".join(f"{value}\n" for value in hashes).encode()).hexdigest()


def stamp(moment: datetime) -> str:
    """Return a time as ISO 8601 in UTC with milliseconds.

    >>> stamp(datetime(2025, 6, 4, 12, 0, 1, 234567, tzinfo=UTC))
    '2025-06-04T12:00:01.234Z'
    """
    if moment.tzinfo is None:
        raise ValueError("a time without time zone cannot be stored")
    utc = moment.astimezone(UTC).replace(tzinfo=None)
    return utc.isoformat(timespec="milliseconds") + "Z"


def moment(text: str) -> datetime:
    """Return the time that `stamp` wrote.

    >>> moment("2025-06-04T12:00:01.234Z").microsecond
    234000
    """
    return datetime.fromisoformat(text)


def from_epoch_ms(epoch_ms: float) -> datetime:
    """Return a browser's `Date.now()` value as a time.

    Raises
    ------
    ValueError
        The value is out of range.
    """
    try:
        return datetime.fromtimestamp(epoch_ms / 1000, tz=UTC)
    except (OverflowError, OSError) as error:
        raise ValueError(f"{epoch_ms} is not a valid time") from error


def random_key(key: str, *, seed: int, purpose: str) -> str:
    """Return 64 hexadecimal digits derived from seed, purpose and key, uniformly distributed.

    >>> random_key("q1", seed=1, purpose="draw")[:8]
    'd0465263'
    """
    text = f"{seed}/{purpose}/{key}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def shuffled(keys: Iterable[str], *, seed: int, purpose: str) -> list[str]:
    """Return the keys in the order of their random keys, independent of their original order.

    >>> shuffled(["a", "b", "c"], seed=1, purpose="x") == shuffled("cba", seed=1, purpose="x")
    True
    """
    # Bytes sort in the same order as hexadecimal digits, in half the time.
    prefix = f"{seed}/{purpose}/".encode()

    def key_bytes(key: str) -> bytes:
        return hashlib.sha256(prefix + key.encode("utf-8", "surrogatepass")).digest()

    return sorted(keys, key=key_bytes)


def without_surrogates(text: str) -> str:
    """Return text with every lone surrogate replaced by the replacement character.

    >>> without_surrogates("a" + chr(0xD800)) == "a" + chr(0xFFFD)
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
