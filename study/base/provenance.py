"""Source and terms of use of a question bank, included in all exports of its content."""

import re
from dataclasses import asdict, dataclass, fields
from typing import Any

from study.base.errors import BadInput
from study.base.translation import t

LONGEST_TEXT = 2_000

# Restrictive terms: CC BY-NC, "non-commercial", a data use agreement, gated access.
_RESTRICTED = re.compile(
    r"\bnc\b|non-?\s?commercial|\bgated\b|\bdua\b|data use|credentialed|restricted"
    r"|research (?:use )?only|do not (?:share|distribute|redistribute)|no redistribution",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """A bank's version, licence (name, address or text), source address and citation.

    Raises
    ------
    BadInput
        A text is too long or contains unprintable characters, or the address is invalid.
    """

    version: str = ""
    licence: str = ""
    source_url: str = ""
    citation: str = ""

    def __post_init__(self) -> None:
        for field in fields(self):
            text = getattr(self, field.name)
            if len(text) > LONGEST_TEXT or not text.replace("\n", " ").isprintable():
                raise BadInput(
                    t(
                        "The {what} of a bank is at most {most} characters of plain text.",
                        what=field.name.replace("_", " "),
                        most=LONGEST_TEXT,
                    )
                )
        if self.source_url and not re.fullmatch(r"https?://[^\s<>\"]+", self.source_url):
            raise BadInput(
                t("The source of a bank is an address that begins with http:// or https://.")
            )

    @property
    def is_restricted(self) -> bool:
        """Return whether the licence appears to restrict who may have or use the bank."""
        return bool(_RESTRICTED.search(self.licence))

    @property
    def warning(self) -> str:
        """Return a warning for people who share the content; empty if there are no restrictions."""
        if not self.is_restricted:
            return ""
        return (
            f"Questions and options are under {self.licence}: restricted to non-commercial use, or "
            "to people who agreed to its terms. Share them only as it permits."
        )

    def as_dict(self) -> dict[str, str]:
        """Return the fields that are not empty."""
        return {name: text for name, text in asdict(self).items() if text}

    def package_metadata(self, bank: str) -> dict[str, Any]:
        """Return `licenses` and `sources` of a Data Package that contains content of this bank."""
        package: dict[str, Any] = {}
        if self.licence:
            key = "path" if self.licence.startswith(("http://", "https://")) else "name"
            package["licenses"] = [{key: self.licence, "title": self.warning or self.licence}]
        if self.as_dict():
            title = " ".join(filter(None, (bank, self.version)))
            source = {"title": f"{title}. {self.citation}" if self.citation else title}
            package["sources"] = [source | ({"path": self.source_url} if self.source_url else {})]
        return package


UNKNOWN_PROVENANCE = Provenance()
