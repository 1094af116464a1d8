"""Keep a server busy by requesting a reader's desk continuously.

The benchmark `timer` starts it as a separate process: ``python -m benchmarks.busy PORT``, with the
reader's cookie in the environment variable ``BENCHMARK_COOKIE``.
"""

import http.client
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import DEVNULL, Popen

ASKERS = 4


def request_forever(port: int, cookie: str) -> None:
    """Request the desk repeatedly."""
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            while True:
                connection.request("GET", "/desk", headers={"Cookie": cookie})
                connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            connection.close()


@contextmanager
def busy_server(port: int, cookie: str) -> Iterator[None]:
    """Keep a server busy within the context."""
    process = Popen(
        [sys.executable, "-m", "benchmarks.busy", str(port)],
        env={**os.environ, "BENCHMARK_COOKIE": cookie},
        stdout=DEVNULL,
        stderr=DEVNULL,
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def main() -> None:
    """Request the desk with several threads."""
    port, cookie = int(sys.argv[1]), os.environ["BENCHMARK_COOKIE"]
    askers = [threading.Thread(target=request_forever, args=(port, cookie)) for _ in range(ASKERS)]
    for asker in askers:
        asker.start()


if __name__ == "__main__":
    main()
