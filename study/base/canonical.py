"""Canonical text and hashes: the same thing always gives the same bytes."""

import hashlib
import json
from json import encoder as _json
from typing import Any

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)
_SCAN = json.JSONDecoder().scan_once  # type: ignore[attr-defined]

# What `_ENCODER.encode` makes anew for every value, which takes longer than most values do.
_PARTS = (
    _json.c_make_encoder  # type: ignore[attr-defined]
    and _json.c_make_encoder(  # type: ignore[attr-defined]
        *(None, _ENCODER.default, _json.encode_basestring, None),
        *(":", ",", True, False, False),
    )
)


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys, no spaces and no escapes beyond JSON's own.

    This is the text under every hash of the store and the bundle, so that anyone can recompute them
    with ``json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)``.

    >>> canonical_json({"b": 1, "a": ["é"]})
    '{"a":["é"],"b":1}'
    """
    return "".join(_PARTS(value, 0)) if _PARTS else _ENCODER.encode(value)


def parsed_json(text: str) -> Any:
    """Return what canonical JSON says: as `json.loads`, without its care for spaces.

    >>> parsed_json('["a","b"]')
    ['a', 'b']
    """
    return _SCAN(text, 0)[0]


def sha256_of(value: Any) -> str:
    """Return the SHA-256 (64 hexadecimal digits) of a value's canonical JSON in UTF-8.

    >>> sha256_of({})[:12]
    '44136fa355b3'
    """
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()
