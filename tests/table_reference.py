"""Generate docs/tables.md from the statistics: ``make docs-tables``."""

import sys
from collections.abc import Iterator
from pathlib import Path

from analysis.registry import STATISTICS
from analysis.statistics.statistic import Statistic

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs" / "tables.md"
BEGIN = "<!-- Below: make docs-tables. -->\n"


def document() -> str:
    """Return docs/tables.md with the tables as the statistics describe them."""
    before, _, _ = DOCUMENT.read_text("utf-8").partition(BEGIN)
    lines = [line for statistic in STATISTICS for line in _table_section(statistic)]
    return f"{before}{BEGIN}\n" + "\n".join(lines).rstrip() + "\n"


def _table_section(statistic: Statistic) -> Iterator[str]:
    yield f"## `{statistic.name}.csv`\n"
    yield f"{statistic.meaning}\n"
    yield "| column | meaning | unit |\n|---|---|---|"
    yield from (f"| `{name}` | {meaning} | {unit} |" for name, meaning, unit in statistic.columns)
    yield ""


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
    sys.stdout.write(f"{DOCUMENT.relative_to(ROOT)}: written\n")
