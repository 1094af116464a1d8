"""``python -m benchmarks NAME``: run a benchmark; text or JSON on stdout, progress on stderr."""

import argparse
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import benchmarks
from benchmarks.machine import Broken


def parser(names: Sequence[str] = benchmarks.NAMES) -> argparse.ArgumentParser:
    """Return the parser with a subcommand for each benchmark in `names`."""
    program = argparse.ArgumentParser(prog="python -m benchmarks", description=benchmarks.__doc__)
    commands = program.add_subparsers(dest="name", required=True, metavar="NAME")
    for name in names:
        module = import_module(f"benchmarks.{benchmarks.MODULES.get(name, name)}")
        command = commands.add_parser(name, help=module.DESCRIPTION, description=module.DESCRIPTION)
        command.add_argument("--json", action="store_true", help="print JSON and nothing else")
        command.add_argument("--out", type=Path, help="also write the JSON to this file")
        module.add_arguments(command)
        command.set_defaults(module=module)
    return program


def main(words: Sequence[str] | None = None) -> int:
    """Run the requested benchmark and return the exit status, which is 1 if it cannot run."""
    words = sys.argv[1:] if words is None else words
    requested = [name for name in words[:1] if name in benchmarks.NAMES]  # others are not imported
    args = parser(requested or benchmarks.NAMES).parse_args(words)
    try:
        result = args.module.run(args)
    except Broken as broken:
        print(f"{args.name}: {broken}", file=sys.stderr)
        return 1
    as_json = json.dumps(result, indent=1, allow_nan=False)
    if args.out:
        args.out.write_text(as_json + "\n", encoding="utf-8")
    print(as_json if args.json else args.module.text(result))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        sys.exit(130)
