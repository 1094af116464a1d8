"""`python -m analysis`."""

import gc
import sys

gc.disable()  # collecting while thousands of modules are loaded takes 0.2 s and frees nothing

from analysis.cli import main  # noqa: E402

gc.enable()

if __name__ == "__main__":
    sys.exit(main())
