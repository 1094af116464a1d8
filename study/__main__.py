"""``python -m study``: the coordinator's command line."""

import sys

from study.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
