"""``python -m benchmarks NAME``: run a benchmark; text or JSON on stdout."""

import argparse
import json
import sys
from importlib import import_module

import benchmarks


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=benchmarks.__doc__)
    commands = parser.add_subparsers(dest="name", required=True, metavar="NAME")
    for name in benchmarks.NAMES:
        module = import_module(f"benchmarks.{name}")
        command = commands.add_parser(name, help=module.DESCRIPTION, description=module.DESCRIPTION)
        command.add_argument("--json", action="store_true", help="print JSON and nothing else")
        module.add_arguments(command)
        command.set_defaults(module=module)
    args = parser.parse_args()
    result = args.module.run(args)
    print(json.dumps(result, indent=1) if args.json else args.module.text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
