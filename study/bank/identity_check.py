"""Finds names, ids and dates from DICOM files in the texts of a bank's rows."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from study.bank.identifiers import KINDS, Identifier, Spelling, spellings
from study.bank.words import possible_keys

_MAX_DISTANCE = 3
"""The maximum distance in words between the parts of a name."""

_MIN_OTHER_PATIENTS = 3
"""A surname that occurs in the rows of this many other patients counts as an ordinary word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTexts:
    """The texts of one row, and the identifiers of its patients.

    Attributes
    ----------
    patient : str
        A key that is equal for all rows of a patient.
    texts : mapping of str to str
        The texts by column.
    identifiers : frozenset of Identifier
        The identifiers in all images of the patient.
    """

    patient: str
    texts: Mapping[str, str]
    identifiers: frozenset[Identifier]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An identifier in a column, which is certain, or possible if it may be an ordinary word."""

    column: str
    what: str
    certain: bool


def find_identifiers(rows: Sequence[RowTexts]) -> list[list[Finding]]:
    """Return the identifiers of each row's own patient and of other patients in the row.

    For the own patient, any part of a name is reported. For other patients, a full name is
    reported; a surname alone is reported as possible, unless it occurs in rows of three patients
    with other names.
    """
    index: dict[str, list[tuple[Identifier, Spelling]]] = defaultdict(list)
    for identifier in {identifier for row in rows for identifier in row.identifiers}:
        for spelling in spellings(identifier):
            index[spelling.key].append((identifier, spelling))
    hits_by_row = [
        {column: _Hits(text, index, row.identifiers) for column, text in row.texts.items() if text}
        for row in rows
    ]
    patients: dict[str, set[str]] = defaultdict(set)
    for row, columns in zip(rows, hits_by_row, strict=True):
        for hits in columns.values():
            for surname in hits.surnames_of_others:
                patients[surname].add(row.patient)
    ordinary = {surname for surname, names in patients.items() if len(names) >= _MIN_OTHER_PATIENTS}
    return [
        [finding for column, hits in columns.items() for finding in hits.findings(column, ordinary)]
        for columns in hits_by_row
    ]


class _Hits:
    """The spellings of the index that occur in one text."""

    def __init__(
        self,
        text: str,
        index: Mapping[str, list[tuple[Identifier, Spelling]]],
        own_identifiers: frozenset[Identifier],
    ) -> None:
        self._own = own_identifiers
        self._certain: set[Identifier] = set()
        self._possible: set[Identifier] = set()
        self.surnames_of_others: set[str] = set()
        parts: dict[Identifier, set[tuple[int, int]]] = defaultdict(set)
        for key, place, n, capitals in possible_keys(text):
            for identifier, spelling in index.get(key, ()):
                if not spelling.least <= n <= spelling.most:
                    continue
                if spelling.capitals and not capitals:
                    continue
                if spelling.certain:
                    if spelling.everywhere or identifier in own_identifiers:
                        self._certain.add(identifier)
                else:
                    parts[identifier].add((spelling.part, place))
                    self._add_possible(identifier, spelling)
        self._certain |= {name for name, places in parts.items() if _is_name(places)}

    def _add_possible(self, identifier: Identifier, spelling: Spelling) -> None:
        kind = KINDS[identifier.kind]
        if identifier in self._own:
            if kind.of_patient or not spelling.given_name:
                self._possible.add(identifier)
        elif kind.of_patient and not (spelling.given_name or spelling.capitals):
            self.surnames_of_others.add(spelling.key)

    def findings(self, column: str, ordinary: set[str]) -> list[Finding]:
        """Return the identifiers in the text, certain findings first."""
        certain = dict.fromkeys(map(self._description, sorted(self._certain)))
        possible = dict.fromkeys(map(self._description, sorted(self._possible)))
        if self.surnames_of_others - ordinary:
            possible[KINDS["patient name"].other] = None
        return [
            *(Finding(column=column, what=kind, certain=True) for kind in certain),
            *(
                Finding(column=column, what=kind, certain=False)
                for kind in possible
                if kind not in certain
            ),
        ]

    def _description(self, identifier: Identifier) -> str:
        kind = KINDS[identifier.kind]
        return kind.own if identifier in self._own else kind.other


def _is_name(places: set[tuple[int, int]]) -> bool:
    """Return whether two different parts of a name are close to each other."""
    return any(
        part != other and abs(place - other_place) <= _MAX_DISTANCE
        for part, place in places
        for other, other_place in places
    )
