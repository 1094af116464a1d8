"""Access codes are stored as hashes, accepted in any spelling, and refused without details."""

from datetime import timedelta

import pytest

from study.base.errors import BrokenStore, NotAllowed
from study.lifecycle import studies
from study.lifecycle.deployments import reader_code
from study.monitoring.progress import status
from study.people import signing_in
from study.people.codes import new_code, normalise_code
from study.people.invitations import Invitation
from study.store import Store, deployment
from tests.conftest import ACTING, NOW, entropy_from, invite


@pytest.fixture
def codes(opened: object, banked: Store) -> dict[str, str]:
    """Return the codes of three readers of an open study."""
    opened(readers=("R1",))  # type: ignore[operator]
    return {"R2": invite(banked, "R2")[0].text}


def _sign_in(store: Store, code: str) -> signing_in.SignedIn:
    return signing_in.sign_in(store, code, entropy=entropy_from(11), now=NOW)


def _is_valid_after(store: Store, token: str, *hours: float) -> list[bool]:
    """Return whether a token is valid at each of some hours after the sign-in."""
    return [
        signing_in.signed_in_person(store, token, now=NOW + timedelta(hours=hour)) is not None
        for hour in hours
    ]


def test_a_sign_in_lasts_fourteen_hours(banked: Store, codes: dict[str, str]) -> None:
    """The limit applies even to a person who is active all the time."""
    token = _sign_in(banked, codes["R2"]).token
    for hour in range(1, 15):
        signing_in.record_activity(banked, token, now=NOW + timedelta(hours=hour))
    assert _is_valid_after(banked, token, 14, 14.001) == [True, False]
    signing_in.record_activity(banked, token, now=NOW + timedelta(hours=14, seconds=1))
    assert _is_valid_after(banked, token, 14.001) == [False]


def test_an_unused_sign_in_ends_after_two_hours(banked: Store, codes: dict[str, str]) -> None:
    """Queries do not count as activity, and later activity cannot revive the sign-in."""
    token = _sign_in(banked, codes["R2"]).token
    assert _is_valid_after(banked, token, 0.5, 1, 1.5, 2, 2.001) == [True] * 4 + [False]
    for hours, left in ((0, 2.0), (1.5, 0.5)):
        remaining = signing_in.time_left(banked, token, now=NOW + timedelta(hours=hours))
        assert remaining == timedelta(hours=left)
    assert signing_in.time_left(banked, token, now=NOW + timedelta(hours=3)) is None
    signing_in.record_activity(banked, token, now=NOW + timedelta(hours=3))
    assert _is_valid_after(banked, token, 3) == [False]
    with banked.look() as look:
        assert not signing_in.has_lost_role(look, token, now=NOW + timedelta(hours=3))


def test_activity_is_recorded_at_intervals(banked: Store, codes: dict[str, str]) -> None:
    """Each record is a write, which would compete with readers' answers."""
    token = _sign_in(banked, codes["R2"]).token
    times_seen = set()
    for seconds in range(0, 61, 10):
        signing_in.record_activity(banked, token, now=NOW + timedelta(seconds=seconds))
        with banked.look() as look:
            times_seen.add(look.value("SELECT active_at_utc FROM sign_ins"))
    assert len(times_seen) == 3


def test_a_sign_in_from_the_future_ends(banked: Store, codes: dict[str, str]) -> None:
    """Otherwise it would last longer if the clock was set back; a few minutes are tolerated."""
    token = _sign_in(banked, codes["R2"]).token
    assert _is_valid_after(banked, token, -0.01, -0.2, -72) == [True, False, False]


def test_expired_sign_ins_are_deleted(banked: Store, codes: dict[str, str]) -> None:
    """The next sign-in of any person deletes them."""
    _sign_in(banked, codes["R2"])
    later = NOW + timedelta(hours=3)
    signing_in.sign_in(banked, codes["R2"], entropy=entropy_from(12), now=later)
    with banked.look() as look:
        assert look.value("SELECT count(*) FROM sign_ins") == 1


def test_requests_with_the_same_sign_in_have_the_same_identifier(
    banked: Store, codes: dict[str, str]
) -> None:
    """The identifier is kept on reloads, differs at the next sign-in, and hides the token."""
    first = _sign_in(banked, codes["R2"])
    later = signing_in.signed_in_person(banked, first.token, now=NOW + timedelta(hours=1))
    next_one = signing_in.sign_in(banked, codes["R2"], entropy=entropy_from(12), now=NOW)
    assert later == first.person
    assert next_one.person.sign_in != first.person.sign_in
    with banked.look() as look:
        ids = [row["id"] for row in look.rows("SELECT id FROM sign_ins")]
    assert not any(sign_in.startswith(first.person.sign_in) for sign_in in ids)


def test_signing_out_ends_every_copy_of_the_token(banked: Store, codes: dict[str, str]) -> None:
    """A copied token gives no access afterwards."""
    token = _sign_in(banked, codes["R2"]).token
    signing_in.sign_out(banked, token, now=NOW)
    assert signing_in.signed_in_person(banked, token, now=NOW) is None


def test_a_new_code_ends_the_old_code_and_its_sign_ins(
    banked: Store, codes: dict[str, str]
) -> None:
    """A person who has the lost code is signed out; the reader continues with the new one."""
    token = _sign_in(banked, codes["R2"]).token
    new = reader_code(banked, study="trial", reader_id="R2", entropy=entropy_from(12), now=NOW)
    assert signing_in.signed_in_person(banked, token, now=NOW) is None
    with pytest.raises(NotAllowed):
        _sign_in(banked, codes["R2"])
    assert _sign_in(banked, new).person.name == "R2"


def test_codes_that_cannot_be_delivered_change_nothing(
    banked: Store, codes: dict[str, str]
) -> None:
    """When the printout fails, the old code still works, and no reader is invited."""

    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        reader_code(
            banked,
            study="trial",
            reader_id="R2",
            entropy=entropy_from(13),
            now=NOW,
            deliver=fail,
        )
    assert _sign_in(banked, codes["R2"]).person.name == "R2"
    with pytest.raises(OSError, match="no space"):
        studies.invite(
            banked,
            study="trial",
            invitations=[Invitation(reader_id="R9")],
            codes=[new_code(entropy_from(14))],
            acting=ACTING,
            deliver=fail,
        )
    assert "R9" not in [row["reader_id"] for row in status(banked, "trial")["readers"]]


def test_a_token_is_not_stored_in_plain_text(banked: Store, codes: dict[str, str]) -> None:
    """The contents of the store's file do not suffice to sign in."""
    token = _sign_in(banked, codes["R2"]).token
    files = banked.path.parent.glob(banked.path.name + "*")
    assert not any(token.encode() in file.read_bytes() for file in files)


def test_a_store_without_a_secret_is_refused(banked: Store) -> None:
    """An empty secret would be known to everyone."""
    with banked.change() as change:
        change.execute("DELETE FROM deployment WHERE name = 'secret'")
    with banked.look() as look, pytest.raises(BrokenStore, match="secret"):
        deployment.secret(look)


def test_a_code_is_accepted_in_any_spelling(banked: Store, codes: dict[str, str]) -> None:
    """Case, dashes and spaces do not matter, nor do O and I for 0 and 1."""
    typed = codes["R2"].lower().replace("-", " ").replace("0", "o").replace("1", "l")
    person = _sign_in(banked, f" {typed} ").person
    assert (person.role, person.name, person.study_name) == ("reader", "R2", "trial")


def test_no_code_is_stored_in_plain_text(banked: Store, codes: dict[str, str]) -> None:
    """Neither the store's file nor its journal contains the secret part of a code."""
    secret = normalise_code(codes["R2"])[6:]
    files = banked.path.parent.glob(banked.path.name + "*")
    assert not any(secret.encode() in file.read_bytes() for file in files)


@pytest.mark.parametrize(
    "wrong_code", ["", "-", "ZZZZ-ZZZZ-ZZZZ-ZZZZ", "x" * 500, "ÄÖÜ", "' OR 1=1"]
)
def test_a_wrong_code_is_refused(banked: Store, codes: dict[str, str], wrong_code: str) -> None:
    """The message is the same for any input."""
    with pytest.raises(NotAllowed, match="not recognised"):
        _sign_in(banked, wrong_code)


def test_the_public_part_of_a_code_is_not_enough(banked: Store, codes: dict[str, str]) -> None:
    """The first six characters do not give access."""
    with pytest.raises(NotAllowed, match="not recognised"):
        _sign_in(banked, codes["R2"][:-1] + "#")


def test_codes_differ_in_salt_and_text() -> None:
    """Each code is created from new random bytes."""
    source = entropy_from(5)
    codes = [new_code(source) for _ in range(20)]
    assert len({code.text for code in codes}) == len({code.salt for code in codes}) == 20
