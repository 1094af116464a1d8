"""What a bank is and what is in it; and what two banks have in common and what not."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from study.store import Transaction, bank_contents, banks
from study.store.banks import BankRow

N_EXAMPLES = 20
_YEARS = re.compile(r"(\d+) years?")
_YOUNGER = re.compile(r"\d+ (?:month|week|day)s?")


def described(row: BankRow, holders: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return what is known of a bank as a whole."""
    return {
        "bank": row.name,
        "items": row.n_items,
        "films": row.n_films,
        "imported_at_utc": row.imported_at_utc,
        "format": row.format,
        **asdict(row.provenance),
        "source": row.source_name,
        "source_sha256": row.source_sha256,
        "content_sha256": row.content_sha256,
        "images": row.images_root,
        "simulated": bool(row.simulated),
        **holders,
    }


def in_full(look: Transaction, name: str) -> dict[str, Any]:
    """Return all that is known of a bank, and its items counted by what they say of themselves.

    Raises
    ------
    NotFound
        There is no bank of that name.
    """
    row = banks.bank_row(look, name)
    counted = {column: bank_contents.counts(look, row.id, column) for column in _COUNTED}
    ages: Counter[str] = Counter()
    for age, n in bank_contents.counts(look, row.id, "age").items():
        ages[age_band(age)] += n
    return {
        **described(row, banks.holders(look, row.id)),
        **bank_contents.totals(look, row.id),
        "with_prior_images": banks.n_with_prior(look, row.id),
        "by": {
            "split": bank_contents.splits(look, row.id),
            **counted,
            "view": bank_contents.views(look, row.id),
            "age": dict(sorted(ages.items(), key=lambda one: (_first_number(one[0]), one[0]))),
        },
    }


_COUNTED = ("task", "category", "subcategory", "sex")


def age_band(age: str) -> str:
    """Return the ten years that an age belongs to; what is a range already stays as it is.

    >>> age_band("60 years"), age_band("3 months"), age_band("50 to 60 years")
    ('60 to 69 years', '0 to 9 years', '50 to 60 years')
    """
    if _YOUNGER.fullmatch(age):
        return "0 to 9 years"
    if years := _YEARS.fullmatch(age):
        first = int(years[1]) // 10 * 10
        return f"{first} to {first + 9} years"
    return age


def _first_number(band: str) -> int:
    found = re.match(r"\d+", band)
    return int(found[0]) if found else 1000


@dataclass(slots=True, kw_only=True)
class Difference:
    """One way in which two banks differ: how often, and up to `N_EXAMPLES` of it."""

    what: str
    n: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, example: str) -> None:
        """Count one more."""
        self.n += 1
        if self.n <= N_EXAMPLES:
            self.examples.append(example)


def compared(look: Transaction, name: str, other: str) -> tuple[int, list[Difference]]:
    """Return how many items two banks share without a difference, and every way they differ.

    Items are told by their ids, films by the hash of their files.

    Raises
    ------
    NotFound
        There is no bank of one of the names.
    """
    here, there = banks.bank_row(look, name), banks.bank_row(look, other)
    found = []
    for one, another in ((here, there), (there, here)):
        only = Difference(what=f"only in {one.name}")
        for item_id in bank_contents.only_in(look, one.id, another.id):
            only.add(item_id)
        found.append(only)
    n_alike = here.n_items - found[0].n
    by_column: dict[str, Difference] = {}
    for item_id, columns in bank_contents.differing(look, here.id, there.id):
        n_alike -= 1
        for column in columns:
            what = f"different {'reference standard' if column == 'truth' else column}"
            by_column.setdefault(column, Difference(what=what)).add(item_id)
    renamed = Difference(what="the same film under other ids")
    for film in bank_contents.renamed(look, here.id, there.id):
        renamed.add(f"{film['item']} / {film['other_item']}")
    return n_alike, [one for one in (*found, *by_column.values(), renamed) if one.n]
