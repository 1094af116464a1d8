"""Checks the metadata of a protocol: text for reviewers of a study, which readers do not see."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from study.base.text import did_you_mean
from study.base.translation import t
from study.protocol import checks
from study.protocol.checks import Faults

MAX_METADATA = 2_000
"""Maximum number of characters in each entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """Information about a study; entries are empty if not stated.

    Parameters
    ----------
    reference_source, reference_method, reference_agreement
        The source of the reference standard, how it was established, and how far the people who
        established it agreed.
    eligibility
        Which patients and examinations were included and excluded.
    setting
        Institutions and dates of the examinations.
    ethics_approval
        Committee and number of the approval, or the reason for a waiver.
    subgroups
        Subgroups whose analysis was planned before reading started.
    """

    reference_source: str = ""
    reference_method: str = ""
    reference_agreement: str = ""
    eligibility: str = ""
    setting: str = ""
    ethics_approval: str = ""
    registration: str = ""
    funding: str = ""
    conflicts_of_interest: str = ""
    subgroups: str = ""

    def as_json(self) -> dict[str, str]:
        """Return the entries that are not empty."""
        return {key: text for key in METADATA_KEYS if (text := getattr(self, key))}


METADATA_KEYS = tuple(field.name for field in fields(Metadata))


def check_metadata(value: Any) -> Metadata:
    """Check the metadata table; every error is listed.

    Raises
    ------
    Faults
        Keys are unknown, or values are too long or not text.
    """
    if not isinstance(value, Mapping):
        raise ValueError(t("must be a table."))
    check = checks.prose(MAX_METADATA)
    texts: dict[str, str] = {}
    faults: list[str] = []
    for key, text in value.items():
        if key not in METADATA_KEYS:
            names = ", ".join(METADATA_KEYS)
            unknown = t("{key}: unknown key. Known keys: {listed}.", key=key, listed=names)
            faults.append(f"metadata: {unknown}" + did_you_mean(str(key), METADATA_KEYS))
            continue
        try:
            texts[key] = check(text)
        except ValueError as error:
            faults.append(f"metadata: {key} {error}")
    if faults:
        raise Faults(faults)
    return Metadata(**texts)
