"""Make the demo bank: films, then questions, predictions and checksums.

``python -m data.generator --out data/demo --seed 20250604``
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from data.generator.bank import (
    build_bank,
    checksum_differences,
    provenance,
    write_checksums,
    write_json,
    write_predictions,
)
from data.generator.examinations import EXAMINATIONS

DEFAULT_CACHE = Path(tempfile.gettempdir()) / "reading-room-generator"


def main() -> int:
    """Run the command; the exit code is 1 if `--check` finds differences."""
    options = _options()
    if options.check:
        differences = checksum_differences(options.out)
        print("\n".join(differences) or f"{options.out}: all files as listed")
        return 1 if differences else 0
    record_file = options.out / "provenance.json"
    records: dict[str, Any] = {}
    if (options.only is not None or options.bank_only) and record_file.exists():
        records = json.loads(record_file.read_text(encoding="utf-8"))["examinations"]
    if not options.bank_only:
        (options.out / "films").mkdir(parents=True, exist_ok=True)
        keys = [e.key for e in EXAMINATIONS if options.only is None or e.key in options.only]
        for key, record in _simulate_all(keys, options):
            records[key] = record
            print(f"{key}: {record['measured']}", flush=True)
    ordered = {e.key: records[e.key] for e in EXAMINATIONS if e.key in records}
    write_json(record_file, provenance(options.seed, ordered))
    if len(ordered) == len(EXAMINATIONS):
        bank = build_bank(ordered, options.seed)
        write_json(options.out / "bank.json", bank)
        write_predictions(bank, options.out / "models", options.seed)
    write_checksums(options.out)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m data.generator", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("data/demo"), help="demo folder")
    parser.add_argument("--seed", type=int, default=20250604)
    parser.add_argument("--only", nargs="+", metavar="KEY", help="make only these examinations")
    parser.add_argument("--bank-only", action="store_true", help="keep the films, rewrite the rest")
    parser.add_argument("--check", action="store_true", help="compare the folder with SHA256SUMS")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="prepared CT")
    parser.add_argument("--jobs", type=int, default=1, help="processes, about 2 GB each")
    return parser.parse_args()


def _simulate_all(
    keys: list[str], options: argparse.Namespace
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the key and the record of each examination, in order."""
    from data.generator.anatomy import load_canonical

    load_canonical(options.cache)
    tasks = [(key, options.seed, options.out, options.cache) for key in keys]
    with ProcessPoolExecutor(max_workers=options.jobs) as pool:
        yield from zip(keys, pool.map(_simulate_one, tasks), strict=True)


def _simulate_one(task: tuple[str, int, Path, Path]) -> dict[str, Any]:
    """Load the prepared CT and make an examination, in a worker process."""
    from data.generator.anatomy import load_canonical
    from data.generator.examinations import simulate

    key, seed, out, cache = task
    examination = next(e for e in EXAMINATIONS if e.key == key)
    return simulate(load_canonical(cache), examination, seed, out)


if __name__ == "__main__":
    sys.exit(main())
