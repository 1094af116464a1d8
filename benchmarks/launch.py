"""Run a program and print its cost as JSON. ``python launch.py PROGRAM ARGUMENT ...``.

This is a separate small program, because Linux counts the peak memory of the process that starts a
program as peak memory of that program.
"""

import json
import os
import subprocess
import sys
import time


def main(program: list[str]) -> int:
    """Run the program with its output on stderr; return its exit status."""
    start = time.perf_counter()
    process = subprocess.Popen(program, stdout=sys.stderr)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    costs = {
        "wall_s": time.perf_counter() - start,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss * 1024 / 1e6,  # Linux counts KiB
    }
    print(json.dumps(costs))
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
