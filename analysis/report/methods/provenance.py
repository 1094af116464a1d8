"""Where the numbers come from: inputs, choices, versions."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from analysis.bundle.protocol import margin_of, margin_origin
from analysis.readings.confidence import confidence_of
from analysis.results import Results

PACKAGES = (
    "numpy",
    "pandas",
    "scipy",
    "statsmodels",
    "plotly",
    "matplotlib",
    "typst",
    "XlsxWriter",
)
# A protocol names its own hash in one of these ways; the first that is there counts.
HASH_KEYS = ("protocol_hash", "hash", "sha256", "protocol_sha256")


def provenance(results: Results) -> dict[str, Any]:
    """Tell what the results were made from, the same every time.

    `input` (SHA-256 of the files, sizes), `options`, `protocol_hash` (None without a protocol) and
    `versions`.
    """
    bundle, options = results.bundle, results.options
    return {
        "input": {
            "sha256": dict(bundle.sha256),
            "bundle_sha256": bundle_hash(bundle.sha256),
            "n_items": len(bundle.items),
            "n_items_with_reference": int((bundle.items["truth"] != "").sum()),
            "n_readings": len(bundle.readings),
            "n_raters": len(bundle.raters),
            "n_clusters": results.n_clusters,
            "clusters_have_several_items": results.clustered,
            "simulated_raters": sorted(bundle.simulated),
        },
        "options": {
            "seed": options.seed,
            "bootstrap": options.bootstrap,
            "alpha": options.alpha,
            "margin": margin(results),
            "margin_is": margin_origin(options, bundle.protocol),
            "confidence_is": confidence_of(options, bundle).meaning.value,
            "faulty": list(options.faulty),
        },
        "protocol_hash": protocol_hash(bundle.protocol),
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
    }


def bundle_hash(files: Mapping[str, str]) -> str:
    """Return one hash for the whole input: SHA-256 of its lines `HASH  NAME`, as sha256sum's.

    Examples
    --------
    >>> bundle_hash({"b.csv": "01", "a.csv": "02"})[:12]
    'f262978e1c63'
    """
    lines = "".join(f"{files[name]}  {name}\n" for name in sorted(files))
    return hashlib.sha256(lines.encode()).hexdigest()


def protocol_hash(protocol: Mapping[str, Any]) -> str | None:
    """Return the hash that the protocol states for itself, None where it states none.

    Examples
    --------
    >>> protocol_hash({"sha256": "ab12", "locked": {}}), protocol_hash({})
    ('ab12', None)
    """
    stated = (protocol.get(key) for key in HASH_KEYS)
    return next((str(value) for value in stated if value), None)


def margin(results: Results) -> float | None:
    """Return the margin asked for, else the protocol's, else None."""
    return margin_of(results.options, results.bundle.protocol)
