"""Generate docs/licences.md from the installed packages: ``make licences``."""

import re
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs" / "licences.md"
_HEADER = """# Licences

The packages that the program runs on, with the licence that each states and the shared
libraries in its wheel for Linux. libgfortran and libgomp are under the GPL with the GCC runtime
library exception, which lets any program use them; libquadmath is under the LGPL. The licences
of the other libraries are in their wheels.

| package | version | licence | libraries |
|---|---|---|---|
"""


def locked_packages() -> list[str]:
    """Return the names of the packages in requirements.lock."""
    text = (ROOT / "requirements.lock").read_text("utf-8")
    return re.findall(r"^([\w.-]+)==[^;\n]*\\$", text, re.MULTILINE)


def licence_of(package: Distribution) -> str:
    """Return the licence that a package states, or an empty string."""
    metadata = package.metadata
    field = _first_or_empty(metadata.get_all("License")).strip()
    short = field if "\n" not in field and 0 < len(field) <= 40 else ""
    classifiers = metadata.get_all("Classifier") or []
    classified = [line.split(" :: ")[-1] for line in classifiers if line.startswith("License ::")]
    return _first_or_empty(metadata.get_all("License-Expression")) or short or ", ".join(classified)


def _first_or_empty(values: Sequence[str] | None) -> str:
    return values[0] if values else ""


def libraries_of(package: Distribution) -> list[str]:
    """Return the names of the shared libraries in a package's wheel."""
    paths = [str(file) for file in package.files or () if ".libs/" in str(file)]
    return sorted({re.split(r"[-.]", path.rpartition("/")[2])[0] for path in paths})


def rows() -> Iterator[tuple[str, str, str, str]]:
    """Yield name, version, licence and libraries of every package."""
    for name in locked_packages():
        package = distribution(name)
        yield name, package.version, licence_of(package), ", ".join(libraries_of(package))


def document() -> str:
    """Return docs/licences.md for the installed packages."""
    return _HEADER + "".join(f"| {' | '.join(row)} |\n" for row in rows())


if __name__ == "__main__":
    DOCUMENT.write_text(document(), "utf-8")
