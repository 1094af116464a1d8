"""Run the command line: `python -m analysis`."""

import signal
import sys

from analysis import loading
from analysis.cli import main

if __name__ == "__main__":
    loading.finish()
    status = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C must not change the status
    sys.exit(status)
