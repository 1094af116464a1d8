"""Checks the parallel arms of a protocol, and randomises readers to them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from study.base.canonical import random_key
from study.base.text import did_you_mean, name_fault, text_key
from study.base.translation import t
from study.protocol import checks
from study.protocol.checks import Check, Faults

MAX_ARMS = 10
MAX_SHARE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A parallel arm: a group of readers who may have different conditions, aid and instructions.

    If a value is empty, the protocol's value applies.

    Parameters
    ----------
    share
        Number of readers of this arm in each permuted block.
    """

    name: str
    conditions: tuple[Any, ...] = ()
    share: int = 1
    aid: str = ""
    aid_text: str = ""
    instructions: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the arm as JSON values, without keys at their default."""
        values = {key.name: getattr(self, key.name) for key in fields(self)}
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in values.items()
            if key == "name" or value not in ((), "", 1)
        }


def arms_check(*, conditions: Check, aid: Check, prose: Check) -> Callable[[Any], tuple[Arm, ...]]:
    """Return a function that checks the arms of a protocol and lists every error."""
    known: Mapping[str, Check] = {
        "name": _check_arm_name,
        "conditions": conditions,
        "share": _check_arm_share,
        "aid": aid,
        "aid_text": prose,
        "instructions": prose,
    }

    def check(value: Any) -> tuple[Arm, ...]:
        if not isinstance(value, list) or len(value) == 1 or len(value) > MAX_ARMS:
            raise ValueError(
                t("must be a list of 2 to {most} arms, or be left out.", most=MAX_ARMS)
            )
        faults: list[str] = []
        parsed = [_check_arm(arm, place, known, faults) for place, arm in enumerate(value, start=1)]
        faults += _repeated_names(arm.get("name") for arm in value if isinstance(arm, Mapping))
        if faults:
            raise Faults(faults)
        return tuple(Arm(**arm) for arm in parsed)

    return check


def _check_arm(
    arm: Any, place: int, known: Mapping[str, Check], faults: list[str]
) -> dict[str, Any]:
    if not isinstance(arm, Mapping):
        faults.append(t("Arm {n}: {fault}", n=place, fault=t("must be a table.")))
        return {}
    parsed = {}
    for key, value in arm.items():
        try:
            if key not in known:
                names = ", ".join(known)
                text = t("{key}: unknown key. Known keys: {listed}.", key=key, listed=names)
                faults.append(
                    t("Arm {n}: {fault}", n=place, fault=text) + did_you_mean(str(key), list(known))
                )
                continue
            parsed[key] = known[key](value)
        except ValueError as error:
            faults.append(t("Arm {n}: {fault}", n=place, fault=f"{key} {error}"))
    if "name" not in arm:
        faults.append(t("Arm {n}: {fault}", n=place, fault=t("name is missing. Name the arm.")))
    return parsed


def _check_arm_name(value: Any) -> str:
    name = checks.text(value)
    fault = name_fault(name)
    if fault:
        raise ValueError(f"{fault}.")
    return name


def _check_arm_share(value: Any) -> int:
    if value == 0 and not isinstance(value, bool):
        raise ValueError(t("is 0, so the arm has no readers. Set it to 1 or more, or remove it."))
    return int(checks.whole(1, MAX_SHARE)(value))


def _repeated_names(names: Iterable[Any]) -> Iterator[str]:
    arms_seen: set[str] = set()
    for name in names:
        key = text_key(name) if isinstance(name, str) else ""
        if key and key in arms_seen:
            yield t("Two arms are named {name}. Rename one.", name=name)
        arms_seen.add(key)


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatedReader:
    """The properties of a reader that the allocation uses; `arm` is empty before the allocation."""

    reader_id: str
    level: str
    site: str
    arm: str = ""

    @property
    def stratum(self) -> tuple[str, str]:
        """Return the stratum in which the reader is randomised."""
        return text_key(self.level), text_key(self.site)


def next_arm(
    arms: Sequence[Arm], before: Sequence[AllocatedReader], reader: AllocatedReader, seed: int
) -> str:
    """Return the arm of the next reader, in permuted blocks within level and site.

    Of the arms that the block still needs, the arm with the fewest readers relative to its share is
    chosen, so that the arms are balanced even over many small strata. Ties are broken at random.

    Parameters
    ----------
    before
        The readers allocated before, in the order of their allocation.
    """
    arms_in_stratum = [other.arm for other in before if other.stratum == reader.stratum]
    block = arms_in_stratum[
        len(arms_in_stratum) - len(arms_in_stratum) % sum(arm.share for arm in arms) :
    ]
    number = len(arms_in_stratum) + 1
    n_by_arm = Counter(other.arm for other in before)
    purpose = "/".join(("arm", *reader.stratum, str(number)))
    left = [arm for arm in arms if block.count(arm.name) < arm.share]
    return min(
        left,
        key=lambda arm: (
            Fraction(n_by_arm[arm.name], arm.share),
            random_key(arm.name, seed=seed, purpose=purpose),
        ),
    ).name
