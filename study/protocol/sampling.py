"""Draws the cases of a study from a bank: seeded, stratified, one question per unit.

Every random choice is made by sorting hashes, so that a draw can be recomputed by hand. A draw
never fails by chance: if a patient has questions in several strata, the patients are assigned by
augmenting paths, so that a draw is refused only if no valid draw exists. The draw and its preview
in the wizard use the same calculation.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from study.bank.content import item_violations
from study.bank.terms import age_in_years
from study.base.canonical import random_key, shuffled
from study.base.errors import BadInput
from study.base.text import difference, text_key
from study.base.translation import t, tn
from study.protocol.protocol import ITEM_LISTS, Condition, Protocol
from study.protocol.wrong_images import wrong_images
from study.store import Store, Transaction, bank_contents, banks, draws
from study.store.draws import Conditions

EXPECTED_ACCURACY = 0.8
"""The accuracy for which the expected precision of a stratum is calculated."""

ELIGIBILITY = ("required_views", "age", "unknown_age", "sex", "without_flags", *ITEM_LISTS)
"""The settings that determine which cases may be drawn."""

_DRAW_KEYS = (
    *("cases", "seed", "stratify_by", "allocation", "one_question_per", "practice_cases"),
    *("context", *ELIGIBILITY),
)

_Z_95 = 1.959963984540054


class Members(NamedTuple):
    """The items of a stratum.

    Parameters
    ----------
    ids
        The item_id of every item.
    unit_of
        The unit of each item, in the same order.
    units
        The different units.
    """

    ids: Sequence[str]
    unit_of: Sequence[str]
    units: Set[str]

    def of(self, units: Set[str]) -> dict[str, list[str]]:
        """Return the item_ids of the items of each of these units."""
        items: dict[str, list[str]] = {unit: [] for unit in units}
        for unit, item_id in zip(self.unit_of, self.ids, strict=True):
            if unit in items:
                items[unit].append(item_id)
        return items


Pool = Mapping[str, Members]
"""The items that could be drawn, by stratum."""

_UnitIterators = Mapping[str, Callable[[], Iterator[str]]]


Candidate = tuple[str, str, str]
"""The item_id, examination and patient of an item that could be drawn for practice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """A stratum of a draw: its size in the bank, the cases drawn, and the expected precision.

    `half_width` is the expected half-width of the 95 % Wilson interval for an accuracy of 0.8 in
    the drawn cases (nan if none is drawn).
    """

    name: str
    n_items: int
    n_units: int
    n_drawn: int
    half_width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnSample:
    """The drawn cases in their fixed order, each with its stratum, and the strata."""

    cases: tuple[tuple[str, str], ...]
    strata: tuple[Stratum, ...]


def build_pool(items: Iterable[tuple[str, ...]]) -> Pool:
    """Return the pool of items; each item is a tuple of item_id, unit and the values of the strata.

    >>> pool = build_pool([("q1", "p1", "a", ""), ("q2", "p1", "a", "")])
    >>> {name: members.of({"p1"}) for name, members in pool.items()}
    {'a / (none)': {'p1': ['q1', 'q2']}}
    """
    pool: defaultdict[tuple[str, ...], tuple[list[str], list[str]]]
    pool = defaultdict(lambda: ([], []))
    for item in items:
        ids, unit_of = pool[item[2:]]
        ids.append(item[0])
        unit_of.append(item[1])
    pools = {
        _stratum_name(values): Members(ids, unit_of, set(unit_of))
        for values, (ids, unit_of) in pool.items()
    }
    return dict(sorted(pools.items()))


def draw(pool: Pool, protocol: Protocol) -> DrawnSample:
    """Draw the cases that a protocol specifies.

    Raises
    ------
    BadInput
        The bank does not have enough cases; the message names the strata with too few.
    """
    targets = _targets({name: len(members.ids) for name, members in pool.items()}, protocol)
    pools = {name: pool[name] for name, n in targets.items() if n}
    _check_supply(targets, pools, protocol)
    units: dict[str, set[str]] = defaultdict(set)
    for unit, name in _assign_units(targets, pools, protocol).items():
        units[name].add(unit)
    chosen = [
        (min(items, key=lambda item: random_key(item, seed=protocol.seed, purpose="item")), name)
        for name, n_wanted in units.items()
        for items in pool[name].of(n_wanted).values()
    ]
    order = shuffled((item for item, _ in chosen), seed=protocol.seed, purpose="case number")
    stratum_of = dict(chosen)
    return DrawnSample(
        cases=tuple((item, stratum_of[item]) for item in order),
        strata=_summarise_strata(pool, targets),
    )


def draw_practice(
    candidates: Iterable[Candidate],
    eligible: Set[str],
    sample: Set[str],
    protocol: Protocol,
) -> list[str]:
    """Draw the practice cases: outside the sample, with a reference standard, one per patient.

    Parameters
    ----------
    eligible
        The item_ids of the items with a reference standard and with films, none of which the sample
        uses.
    sample
        The item_ids of the drawn cases. The sample never depends on the practice cases.

    Raises
    ------
    BadInput
        Too few patients are left outside the sample.
    """
    by_unit: dict[str, list[Candidate]] = defaultdict(list)
    patients, examinations = set[str](), set[str]()
    for candidate in candidates:
        item_id, examination, patient = candidate
        if item_id in sample:
            patients.update([patient] if patient else ())
            examinations.add(examination)
        elif item_id in eligible:
            by_unit[patient or examination].append(candidate)
    other_items = {
        unit: chosen
        for unit, items in by_unit.items()
        if (
            chosen := [
                item_id
                for item_id, examination, patient in items
                if patient not in patients and examination not in examinations
            ]
        )
    }
    if len(other_items) < protocol.practice_cases:
        raise BadInput(
            t(
                "Practice cases come from patients outside the sample, and each needs a reference "
                "standard: the bank has {n} such patients left, but practice_cases = {asked}. "
                "Reduce practice_cases, or cases = {cases}.",
                n=len(other_items),
                asked=protocol.practice_cases,
                cases=protocol.cases,
            )
        )
    units = shuffled(other_items, seed=protocol.seed, purpose="practice unit")
    return [
        min(
            other_items[unit],
            key=lambda item: random_key(item, seed=protocol.seed, purpose="practice item"),
        )
        for unit in units[: protocol.practice_cases]
    ]


def wilson_half_width(proportion: float, n: int) -> float:
    """Return half the length of the 95 % Wilson interval (Wilson 1927) for a proportion of n items.

    >>> round(wilson_half_width(0.8, 200), 4)
    0.0552
    """
    if n == 0:
        return math.nan
    z2 = _Z_95**2
    spread = math.sqrt(proportion * (1 - proportion) / n + z2 / (4 * n * n))
    return _Z_95 * spread / (1 + z2 / n)


def _stratum_name(values: Sequence[str]) -> str:
    return " / ".join(value or "(none)" for value in values) if values else "all"


def _targets(sizes: Mapping[str, int], protocol: Protocol) -> dict[str, int]:
    if isinstance(protocol.allocation, Mapping):
        return _allocated_targets(sizes, protocol.allocation)
    weights = sizes if protocol.allocation == "proportional" else dict.fromkeys(sizes, 1)
    return _largest_remainder(weights, protocol)


def _allocated_targets(sizes: Mapping[str, int], allocation: Mapping[str, int]) -> dict[str, int]:
    """Return the number of cases for each stratum from a table that may spell names differently."""
    names = {text_key(name): name for name in sizes}
    unknown = sorted(name for name in allocation if text_key(name) not in names)
    if unknown:
        raise BadInput(
            t(
                "allocation names strata that the bank does not have: {unknown}. It has: {known}.",
                unknown=", ".join(unknown),
                known=", ".join(sizes),
            )
        )
    targets = dict.fromkeys(sizes, 0)
    spelling: dict[str, str] = {}
    for name, n in allocation.items():
        stratum = names[text_key(name)]
        if stratum in spelling:
            raise BadInput(
                t(
                    "allocation names the stratum {name} twice, written differently ({differs}). "
                    "Keep one of them.",
                    name=stratum,
                    differs=difference(name, spelling[stratum]),
                )
            )
        spelling[stratum], targets[stratum] = name, n
    return targets


def _largest_remainder(weights: Mapping[str, int], protocol: Protocol) -> dict[str, int]:
    """Divide the cases by weight (Hamilton's method); equal remainders are ordered at random."""
    total = sum(weights.values())
    if not total:
        return {}
    shares = {name: divmod(protocol.cases * weight, total) for name, weight in weights.items()}
    targets = {name: quotient for name, (quotient, _) in shares.items()}
    remaining = protocol.cases - sum(targets.values())
    by_remainder = sorted(
        shares,
        key=lambda name: (-shares[name][1], random_key(name, seed=protocol.seed, purpose="share")),
    )
    for name in by_remainder[:remaining]:
        targets[name] += 1
    return targets


def _unit_iterators(pool: Pool, protocol: Protocol) -> _UnitIterators:
    """Return functions that yield the units of each stratum in random order."""
    units = set[str]().union(*(members.units for members in pool.values()))
    order = shuffled(units, seed=protocol.seed, purpose="unit")

    def of(members: Members) -> Iterator[str]:
        return (unit for unit in order if unit in members.units)

    return {name: partial(of, members) for name, members in pool.items()}


def _check_supply(targets: Mapping[str, int], pool: Pool, protocol: Protocol) -> None:
    if not targets:
        raise BadInput(
            t(
                "No question in the bank meets the conditions, but cases = {cases}. Relax the "
                "conditions on eligible cases, or choose another bank.",
                cases=protocol.cases,
            )
        )
    short = [
        t(
            "{stratum}: {asked} needed, {there} available (questions: {n}).",
            stratum=name,
            asked=targets[name],
            there=len(members.units),
            n=len(members.ids),
        )
        for name, members in pool.items()
        if len(members.units) < targets[name]
    ]
    if short:
        first = t(
            "The bank has too few cases. Reduce cases = {cases}, or change allocation or "
            "one_question_per:",
            cases=protocol.cases,
        )
        raise BadInput("\n".join([first, *(f"  {line}" for line in short)]))


def _assign_units(targets: Mapping[str, int], pool: Pool, protocol: Protocol) -> dict[str, str]:
    """Assign units to strata until each has its number of cases, by augmenting paths."""
    holder: dict[str, str] = {}
    unit_iterators = _unit_iterators(pool, protocol)
    free = {name: units() for name, units in unit_iterators.items()}

    def place(name: str, visited: set[str]) -> bool:
        visited.add(name)
        for unit in free[name]:
            if unit not in holder:
                holder[unit] = name
                return True
        for unit in unit_iterators[name]():
            other = holder[unit]
            if other not in visited and place(other, visited):
                holder[unit] = name
                return True
        return False

    scarcest = sorted(pool, key=lambda name: (len(pool[name].units) - targets[name], name))
    for name in scarcest:
        for number in range(targets[name]):
            if not place(name, set()):
                raise BadInput(
                    t(
                        "The bank has too few cases: only {n} of {asked} for the stratum "
                        "{stratum} can be drawn together with the other strata. Reduce cases = "
                        "{cases}, or change allocation or one_question_per.",
                        n=number,
                        asked=targets[name],
                        stratum=name,
                        cases=protocol.cases,
                    )
                )
    return holder


def _summarise_strata(pool: Pool, targets: Mapping[str, int]) -> tuple[Stratum, ...]:
    return tuple(
        Stratum(
            name=name,
            n_items=len(members.ids),
            n_units=len(members.units),
            n_drawn=targets[name],
            half_width=wilson_half_width(EXPECTED_ACCURACY, targets[name]),
        )
        for name, members in pool.items()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawResult:
    """The result of a draw: cases with their strata in order, practice cases, and the strata.

    `wrong_images` names for each case the case whose images are shown instead. It is empty if the
    design has no wrong images.
    """

    cases: tuple[tuple[str, str], ...]
    practice: tuple[str, ...]
    strata: tuple[Stratum, ...]
    wrong_images: Mapping[str, str]


def draw_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a protocol that affect its draw.

    The only condition that affects the draw is wrong-image, in any arm.
    """
    values_used = {key: values[key] for key in _DRAW_KEYS}
    arms = [arm.get("conditions", values["conditions"]) for arm in values["arms"]]
    if any(Condition.WRONG_IMAGE in conditions for conditions in arms or [values["conditions"]]):
        values_used["conditions"] = [Condition.WRONG_IMAGE.value]
    return values_used


def preview_draw(store: Store, bank: int, protocol: Protocol) -> DrawResult:
    """Return the result that a draw would have, without writing anything.

    Raises
    ------
    BadInput
        The bank does not have the required cases; the message states what is missing.
    """
    with store.look() as look:
        return compute_draw(look, bank, protocol)


def compute_draw(look: Transaction, bank: int, protocol: Protocol) -> DrawResult:
    """Return the result of a draw from a bank; raise the same errors as `preview_draw`."""
    _check_prior(look, bank, protocol)
    _check_strata(look, bank, protocol)
    conditions = _conditions(look, bank, protocol)
    items = draws.drawable_items(
        look, bank, protocol.one_question_per, protocol.stratify_by, conditions
    )
    drawn = draw(build_pool(items), protocol)
    return DrawResult(
        cases=drawn.cases,
        practice=tuple(_practice_cases(look, bank, drawn.cases, protocol, conditions)),
        strata=drawn.strata,
        wrong_images=_wrong_images(look, bank, drawn.cases, protocol),
    )


def _wrong_images(
    look: Transaction, bank: int, cases: Sequence[tuple[str, str]], protocol: Protocol
) -> dict[str, str]:
    if Condition.WRONG_IMAGE not in protocol.all_conditions:
        return {}
    item_ids = [item_id for item_id, _ in cases]
    images = draws.case_images(look, bank, item_ids, prior="prior" in protocol.context)
    return wrong_images(images, seed=protocol.seed)


def count_drawable(store: Store, bank: int, protocol: Protocol) -> tuple[int, int]:
    """Return how many items in a bank may be drawn, and how many units they belong to.

    Raises
    ------
    BadInput
        A list in the protocol names an item that the bank does not have.
    """
    with store.look() as look:
        conditions = _conditions(look, bank, protocol)
        return draws.n_drawable(look, bank, protocol.one_question_per, conditions)


def _check_prior(look: Transaction, bank: int, protocol: Protocol) -> None:
    if "prior" in protocol.context and not banks.n_with_prior(look, bank):
        raise BadInput(
            t(
                "context names prior images, but no question in the bank has a prior image. "
                "Remove it, or choose another bank."
            )
        )


def _check_strata(look: Transaction, bank: int, protocol: Protocol) -> None:
    for name in [key for key in protocol.stratify_by if key in ("bank", *draws.ATTRIBUTES)]:
        if not draws.has_attribute(look, bank, name):
            raise BadInput(
                t(
                    "stratify_by names {name}, which no question in the bank has. Remove it.",
                    name=name,
                )
            )
        if name != "bank" and draws.reveals_answer(look, bank, name):
            raise BadInput(
                t(
                    "stratify_by names {name}, which in this bank reveals the reference standard. "
                    "Remove it.",
                    name=name,
                )
            )


def _conditions(look: Transaction, bank: int, protocol: Protocol) -> Conditions:
    """Return the conditions that an item must meet to be drawn."""
    permitted: dict[str, tuple[str, ...]] = {}
    for key in ITEM_LISTS:
        ids = getattr(protocol, key)
        stored_ids = banks.stored_item_ids(look, bank, ids)
        permitted[key] = tuple(stored_ids.values())
        if unknown_ids := [item_id for item_id in ids if item_id not in stored_ids]:
            raise BadInput(
                tn(
                    "{key} names {n} question that the bank does not have: {examples}. Remove it, "
                    "or choose another bank.",
                    "{key} names {n} questions that the bank does not have, such as {examples}. "
                    "Remove them, or choose another bank.",
                    len(unknown_ids),
                    key=key,
                    examples=", ".join(unknown_ids[:3]),
                )
            )
    excluded_ids = set(permitted["without_items"])
    if protocol.without_flags:
        for rule, item_id, _ in item_violations(bank_contents.questions(look, bank)):
            if rule in protocol.without_flags:
                excluded_ids.add(item_id)
    return Conditions(
        views=protocol.required_views,
        ages=_permitted_ages(look, bank, protocol) if protocol.age else None,
        sexes=protocol.sex or None,
        items=permitted["only_items"] or None,
        without=tuple(sorted(excluded_ids)) or None,
    )


def _permitted_ages(look: Transaction, bank: int, protocol: Protocol) -> tuple[str, ...]:
    """Return the bank's ages in words that are completely within the range of the protocol."""
    low, high = protocol.age
    ages = {words: age_in_years(words) for words in draws.ages(look, bank)}
    return tuple(
        words
        for words, years in ages.items()
        if (protocol.unknown_age if years is None else low <= years[0] and years[1] <= high)
    )


def locked_values(
    protocol: Protocol, study: str, bank_sha256: str, drawn: DrawResult
) -> dict[str, Any]:
    """Return the values that a study's hash covers: its protocol, its bank and the drawn cases."""
    values = protocol.as_json()
    covered = {
        "protocol": {**values, "name": values["name"] or study},
        "bank_sha256": bank_sha256,
        "cases": [item_id for item_id, _ in drawn.cases],
    }
    if not drawn.practice:
        return covered
    return {**covered, "practice_cases_drawn": list(drawn.practice)}


def _practice_cases(
    look: Transaction,
    bank: int,
    cases: Iterable[tuple[str, str]],
    protocol: Protocol,
    conditions: Conditions,
) -> list[str]:
    """Draw practice cases, which meet the same conditions as the sample except `only_items`."""
    if not protocol.practice_cases:
        return []
    sample = {item_id for item_id, _ in cases}
    # A bank may omit patients and examinations, or use the same film in several of them.
    eligible = banks.practice_candidates(look, bank) - banks.sharing_films(look, bank, sample)
    if conditions != Conditions(items=conditions.items):
        met = draws.drawable_items(look, bank, "item", (), replace(conditions, items=None))
        eligible &= {item_id for item_id, _ in met}
    candidates = draws.units(look, bank)
    return draw_practice(candidates, eligible, sample, protocol)
