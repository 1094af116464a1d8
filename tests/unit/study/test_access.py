"""Access codes: stored as hashes, typed as people type, refused without telling why."""

import pytest

from study import access
from study.errors import NotAllowed
from study.store import Store
from tests.conftest import NOW, entropy_from, invite


@pytest.fixture
def codes(opened: object, banked: Store) -> dict[str, str]:
    """Return the codes of three readers of an open study."""
    opened(readers=("R1",))  # type: ignore[operator]
    return {"R2": invite(banked, "R2")[0].text}


def test_a_code_signs_its_reader_in_however_it_is_typed(
    banked: Store, codes: dict[str, str]
) -> None:
    """Case, dashes and blanks do not matter, nor do O and I for 0 and 1."""
    typed = codes["R2"].lower().replace("-", " ").replace("0", "o").replace("1", "l")
    person = access.sign_in(banked, f" {typed} ", now=NOW)
    assert (person.role, person.name, person.study_name) == ("reader", "R2", "trial")


def test_no_code_is_stored_in_clear(banked: Store, codes: dict[str, str]) -> None:
    """Neither the store's file nor its journal holds the secret part of a code."""
    secret = access.normalised(codes["R2"])[6:]
    files = banked.path.parent.glob(banked.path.name + "*")
    assert not any(secret.encode() in file.read_bytes() for file in files)


@pytest.mark.parametrize("wrong", ["", "-", "ZZZZ-ZZZZ-ZZZZ-ZZZZ", "x" * 500, "ÄÖÜ", "' OR 1=1"])
def test_a_wrong_code_is_refused(banked: Store, codes: dict[str, str], wrong: str) -> None:
    """Whatever is typed, the refusal is the same sentence."""
    with pytest.raises(NotAllowed, match="not known here"):
        access.sign_in(banked, wrong, now=NOW)


def test_the_right_open_part_with_a_wrong_secret_is_refused(
    banked: Store, codes: dict[str, str]
) -> None:
    """The first six signs alone open nothing."""
    with pytest.raises(NotAllowed, match="not known here"):
        access.sign_in(banked, codes["R2"][:-1] + "#", now=NOW)


def test_two_codes_never_share_salt_or_text() -> None:
    """Each code has entropy of its own."""
    source = entropy_from(5)
    made = [access.new_code(source) for _ in range(20)]
    assert len({code.text for code in made}) == len({code.salt for code in made}) == 20
