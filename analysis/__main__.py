"""`python -m analysis`."""

import signal
import sys

from analysis import loading
from analysis.cli import main

if __name__ == "__main__":
    loading.finished()
    status = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is done, and its status is known
    sys.exit(status)
