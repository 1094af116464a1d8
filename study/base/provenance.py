"""Where a question bank comes from and on what terms: said wherever its content is handed on."""

import re
from dataclasses import asdict, dataclass, fields
from typing import Any

from study.base.errors import BadInput
from study.base.translation import t

LONGEST = 2_000

# Of a licence's name or words: CC BY-NC, "non-commercial", a data use agreement, gated access.
_RESTRICTED = re.compile(
    r"\bnc\b|non-?\s?commercial|\bgated\b|\bdua\b|data use|credentialed|restricted"
    r"|research (?:use )?only|do not (?:share|distribute|redistribute)|no redistribution",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """A bank's version, licence (its name, address or words), address and citation; or nothing.

    Raises
    ------
    BadInput
        A text is too long or cannot be printed, or the address is none.
    """

    version: str = ""
    licence: str = ""
    source_url: str = ""
    citation: str = ""

    def __post_init__(self) -> None:
        for one in fields(self):
            text = getattr(self, one.name)
            if len(text) > LONGEST or not text.replace("\n", " ").isprintable():
                raise BadInput(
                    t(
                        "The {what} of a bank is at most {most} characters of plain text.",
                        what=one.name.replace("_", " "),
                        most=LONGEST,
                    )
                )
        if self.source_url and not re.fullmatch(r"https?://[^\s<>\"]+", self.source_url):
            raise BadInput(
                t("The source of a bank is an address that begins with http:// or https://.")
            )

    @property
    def is_restricted(self) -> bool:
        """Whether the licence, as far as its words tell, forbids some to have or to use it."""
        return bool(_RESTRICTED.search(self.licence))

    @property
    def warning(self) -> str:
        """Return what whoever hands its content on has to know; empty where nothing is."""
        if not self.is_restricted:
            return ""
        return (
            f"Questions and options are under {self.licence}: not for commercial use, or for "
            "people who agreed to its terms. Pass them on only as these allow."
        )

    def told(self) -> dict[str, str]:
        """Return what is known, by name."""
        return {name: text for name, text in asdict(self).items() if text}

    def in_package(self, bank: str) -> dict[str, Any]:
        """Return `licenses` and `sources` of a Data Package with content of a bank of that name."""
        found: dict[str, Any] = {}
        if self.licence:
            key = "path" if self.licence.startswith(("http://", "https://")) else "name"
            found["licenses"] = [{key: self.licence, "title": self.warning or self.licence}]
        if self.told():
            title = " ".join(filter(None, (bank, self.version)))
            source = {"title": f"{title}. {self.citation}" if self.citation else title}
            found["sources"] = [source | ({"path": self.source_url} if self.source_url else {})]
        return found


NOT_KNOWN = Provenance()
