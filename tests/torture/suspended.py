"""A staff program that is suspended in the middle of a change, with a short idle limit.

``python -m tests.torture.suspended ADDRESS DEFECT`` prints ``begun`` within its transaction, waits
for the end of its input, and prints ``stored`` or ``refused``.
"""

import sys

from study.base.errors import StudyError
from study.store import Store, deployment, postgres
from tests.torture.defects import DEFECTS

IDLE_S = 2.0


def main() -> None:
    """Begin a change, and end it after the input."""
    address, defect = sys.argv[1:]
    postgres._STAFF_IDLE_S = IDLE_S
    if defect != "none":
        DEFECTS[defect].plant()
    try:
        with Store.at(address).change() as change:
            print("begun", flush=True)
            sys.stdin.read()
            deployment.set_value(change, "suspended", "1")
    except StudyError:
        print("refused", flush=True)
    else:
        print("stored", flush=True)


if __name__ == "__main__":
    main()
