"""Run the fault suite: ``python -m tests.torture [--runs N] [--seed N] [--json]``."""

import argparse
import json
import sys
import time
from dataclasses import replace

from tests.torture.defects import DEFECTS
from tests.torture.front import PROXIES
from tests.torture.postgres import Postgres
from tests.torture.sqlite import Sqlite
from tests.torture.suite import Engine, Outcome, Plan, run_batch

ENGINES: dict[str, type[Engine]] = {"sqlite": Sqlite, "postgres": Postgres}


def main() -> int:
    """Run batches until the wanted number of runs is reached; return an exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="readers in all (default: 1000)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first batch (default: 1)")
    parser.add_argument("--servers", type=int, default=1, help="servers on one store (default: 1)")
    parser.add_argument("--readers", type=int, default=10, help="readers at a time (default: 10)")
    parser.add_argument("--proxy", choices=PROXIES, default="", help="in front of the servers")
    parser.add_argument("--engine", choices=ENGINES, default="sqlite", help="(default: sqlite)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--defects",
        action="store_true",
        help="run one batch for each deliberate defect, which it must find",
    )
    args = parser.parse_args()
    engine = ENGINES[args.engine]()
    plan = Plan(readers=args.readers, servers=args.servers, engine=engine, proxy=args.proxy)
    return _find_defects(plan, args.seed) if args.defects else _run(plan, args)


def _run(plan: Plan, args: argparse.Namespace) -> int:
    total, began_s, failed = Outcome(), time.monotonic(), []
    n_batches = -(-args.runs // plan.readers)
    for seed in range(args.seed, args.seed + n_batches):
        outcome = run_batch(plan, str(seed), note=lambda line: print(line, file=sys.stderr))
        total.add(outcome)
        if not outcome.is_clean:
            failed.append(seed)
            print(
                f"Failed: {_counts(outcome)}. Repeat with: "
                f"python -m tests.torture --runs {plan.readers} --seed {seed} "
                f"--readers {plan.readers} --servers {plan.servers} --engine {plan.engine.name}"
                f"{' --proxy ' + plan.proxy if plan.proxy else ''}",
                file=sys.stderr,
            )
    result = {
        "engine": plan.engine.name,
        "runs": n_batches * plan.readers,
        **vars(total),
        "faults": {str(name): n for name, n in sorted(total.faults.items())},
        "failed_seeds": failed,
        "seconds": round(time.monotonic() - began_s),
    }
    print(json.dumps(result, indent=1) if args.json else _text(result, total))
    return 1 if failed else 0


def _find_defects(plan: Plan, seed: int) -> int:
    missed = 0
    for name, defect in DEFECTS.items():
        if defect.engine not in ("", plan.engine.name):
            continue
        planted = replace(plan, defect=name, only=defect.fault, patience_s=30.0)
        outcome = run_batch(planted, str(seed))
        is_found = outcome.breaches[defect.found_as] > 0
        missed += not is_found
        print(f"{'found' if is_found else 'MISSED':7s} {name}: {_counts(outcome)}", flush=True)
    return 1 if missed else 0


def _counts(outcome: Outcome) -> str:
    return ", ".join(f"{n} {name}" for name, n in outcome.breaches.items())


def _text(result: dict[str, object], total: Outcome) -> str:
    lines = [f"{n:6d}  {name}" for name, n in sorted(total.faults.items())]
    return "\n".join(
        [
            f"{result['runs']} runs in {result['seconds']} s; faults:",
            *lines,
            f"{total.acknowledged} acknowledged answers: {_counts(total)}",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
