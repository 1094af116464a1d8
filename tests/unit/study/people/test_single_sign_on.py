"""Single sign-on: whom an identity stands for, and tickets that are good once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from study.base.actor import COMMAND_LINE, Acting
from study.base.errors import BadInput, NotAllowed, NotNow
from study.people import codes, persons, signing_in, single_sign_on
from study.people.persons import Newcomer
from study.people.roles import Role
from study.people.signing_in import SignInRefused
from study.people.single_sign_on import Identity
from study.store import Store, events, people
from study.store.events import EventKind
from study.trail.verification import verify
from tests.conftest import NOW, entropy_from

WHO: Acting = {"by": COMMAND_LINE, "now": NOW}

CLAIMS = {
    "iss": "https://id.example.org",
    "sub": "7",
    "email": "Carla@example.org",
    "email_verified": True,
    "iat": NOW.timestamp(),
}


@pytest.fixture
def kept(store: Store) -> Store:
    """Return a store whose coordinator carla is registered with an address."""
    persons.give_role(
        store,
        Newcomer(handle="carla", role=Role.COORDINATOR, email="carla@example.org"),
        study="",
        code=codes.new_code(entropy_from(2)),
        expires=None,
        everywhere=True,
        by=COMMAND_LINE,
        now=NOW,
    )
    return store


def _grant(store: Store) -> int:
    with store.look() as look:
        return int(look.value("SELECT id FROM grants WHERE role = 'coordinator'"))


def _release(store: Store, *, reason: str = "New account.", everywhere: bool = True) -> None:
    single_sign_on.release(
        store, study="", grant=_grant(store), reason=reason, everywhere=everywhere, **WHO
    )


def _identity(**changed: Any) -> Identity:
    found = single_sign_on.identity_of({**CLAIMS, **changed})
    assert found is not None
    return found


def _ticket(store: Store, seed: int = 3, **changed: Any) -> str:
    return single_sign_on.ticket(store, _identity(**changed), entropy=entropy_from(seed), now=NOW)


def _redeem(store: Store, text: str, late: timedelta = timedelta()) -> signing_in.SignedIn:
    return single_sign_on.redeem(store, text, entropy=entropy_from(8), now=NOW + late)


def test_a_verified_address_binds_once_and_the_identity_counts_after(kept: Store) -> None:
    """Once bound, the account signs in whatever its address has become."""
    assert _redeem(kept, _ticket(kept)).person.name == "carla"
    text = _ticket(kept, 4, email="other@example.org", email_verified=False)
    assert (
        single_sign_on.redeem(kept, text, entropy=entropy_from(9), now=NOW).person.name == "carla"
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"email_verified": False},
        {"email_verified": None},
        {"email_verified": "no"},
        {"email": ""},
        {"email": None},
        {"email": "carla@example.com"},
    ],
)
def test_nobody_is_let_in_unverified_or_unknown(kept: Store, changed: dict[str, Any]) -> None:
    """An address the provider does not vouch for is no address."""
    with pytest.raises(SignInRefused) as refused:
        _ticket(kept, **changed)
    assert refused.value.why == "no-account"


@pytest.mark.parametrize("away", [timedelta(minutes=6), -timedelta(minutes=6)])
def test_an_old_sign_on_counts_for_nothing(kept: Store, away: timedelta) -> None:
    """Streamlit remembers a sign-on for a month; only a fresh one signs in here."""
    with pytest.raises(SignInRefused) as refused:
        _ticket(kept, iat=(NOW - away).timestamp())
    assert refused.value.why == "stale"


@pytest.mark.parametrize(
    "missing",
    [
        *({"iss": ""}, {"sub": None}, {"iat": "x"}, {"iat": 1e300}, {"iat": None}),
        *({"sub": ["7"]}, {"sub": 7}, {"sub": "7\ud800"}, {"sub": "7" * 256}, {"iss": {}}),
    ],
)
def test_claims_that_name_nobody_are_nobody(missing: dict[str, Any]) -> None:
    """Rubbish from a provider ends in no identity, not in a trace."""
    assert single_sign_on.identity_of({**CLAIMS, **missing}) is None


def test_a_ticket_is_good_once_and_for_a_minute(kept: Store) -> None:
    """Used, late or made up: refused in the same words."""
    text = _ticket(kept)
    _redeem(kept, text)
    late = _ticket(kept, 5)
    for tried, after in ((text, 0), (late, 61), ("made up", 0), ("", 0)):
        with pytest.raises(SignInRefused) as refused:
            _redeem(kept, tried, timedelta(seconds=after))
        assert refused.value.why == "ticket"
    with kept.look() as look:
        assert text not in str(look.rows("SELECT * FROM tickets"))


@pytest.mark.parametrize(
    "changed",
    [
        {"sub": "8"},
        {"iss": "https://other.example.org"},
        {"iss": "https://other.example.org", "sub": "8"},
        {"sub": "8", "email": "CARLA@EXAMPLE.ORG"},
        {"sub": "7 "},
        {"iss": "https://id.example.org/"},
    ],
)
def test_no_other_account_reaches_a_person_with_an_account(
    kept: Store, changed: dict[str, Any]
) -> None:
    """The same verified address is not enough: neither for another subject nor another issuer."""
    _ticket(kept)
    with pytest.raises(SignInRefused) as refused:
        _ticket(kept, 4, **changed)
    assert refused.value.why == "other-account"
    assert _redeem(kept, _ticket(kept, 5)).person.name == "carla"


def test_an_address_changed_here_does_not_release_the_account(kept: Store) -> None:
    """The account stays the only one, under the old address and under the new one."""
    _ticket(kept)
    persons.change_name(
        kept, study="", grant=_grant(kept), name="", email="new@example.org", everywhere=True, **WHO
    )
    for email in ("carla@example.org", "new@example.org"):
        with pytest.raises(SignInRefused):
            _ticket(kept, 4, sub="8", email=email)
    assert _redeem(kept, _ticket(kept, 5)).person.name == "carla"


@pytest.mark.parametrize(
    "email",
    [
        "\uff43arla@example.org",
        "carla@e\u0445ample.org",
        "carla@example.org\u200b",
        "carla@example.org ",
    ],
)
def test_an_address_that_looks_the_same_is_another_one(kept: Store, email: str) -> None:
    """Somebody else can hold it at the provider; ASCII letters alone match in either case."""
    with pytest.raises(SignInRefused) as refused:
        _ticket(kept, email=email)
    assert refused.value.why == "no-account"
    assert _redeem(kept, _ticket(kept, email="cArLa@EXAMPLE.org")).person.name == "carla"


def test_an_account_bound_twice_by_an_earlier_version_counts_once(kept: Store) -> None:
    """Of two accounts of one person the first one bound signs in, the other does not."""
    _ticket(kept)
    with kept.change() as change:
        people.bind(
            change,
            issuer="https://other.example.org",
            subject="8",
            person=people.bound_to(change, "https://id.example.org", "7"),
            bound_at_utc="2026-01-01T00:00:00.000Z",
        )
    _ticket(kept, 4)
    with pytest.raises(SignInRefused):
        _ticket(kept, 5, iss="https://other.example.org", sub="8")


def test_of_two_first_sign_ons_at_once_one_binds(kept: Store) -> None:
    """Whichever comes first; the other one is refused however close it came."""
    with ThreadPoolExecutor(8) as pool:
        tries = [pool.submit(_ticket, kept, 20 + n, sub=str(n)) for n in range(8)]
    refused = [one.exception() for one in tries]
    assert refused.count(None) == 1
    assert {one.why for one in refused if isinstance(one, SignInRefused)} == {"other-account"}
    with kept.look() as look:
        assert len(people.identities(look)) == 1


def test_an_administrator_releases_an_account_with_a_reason(kept: Store) -> None:
    """Then the next sign-on binds; the trail has both, and the released account is out."""
    first = _redeem(kept, _ticket(kept))
    waiting = _ticket(kept, 4)
    _release(kept)
    with pytest.raises(SignInRefused):
        _redeem(kept, waiting)
    assert signing_in.signed_in(kept, first.token, now=NOW) is None
    assert _redeem(kept, _ticket(kept, 5, sub="8")).person.name == "carla"
    with pytest.raises(SignInRefused):
        _ticket(kept, 6)
    with kept.look() as look:
        (detail,) = events.of_kind(look, events.DEPLOYMENT, EventKind.IDENTITY_RELEASED)
    assert (detail["whose"], detail["reason"]) == ("carla", "New account.")
    assert "7" not in detail["accounts"]
    assert verify(kept) == []


def test_an_account_is_released_only_by_an_administrator_and_only_if_there_is_one(
    kept: Store,
) -> None:
    """A coordinator cannot, nobody can without a reason, and nothing is recorded for nothing."""
    with pytest.raises(NotNow, match="no sign-in account"):
        _release(kept)
    _ticket(kept)
    with pytest.raises(NotAllowed):
        _release(kept, everywhere=False)
    with pytest.raises(BadInput):
        _release(kept, reason=" ")
    with pytest.raises(SignInRefused):
        _ticket(kept, 4, sub="8")


def test_a_released_account_put_back_behind_the_program_is_found(kept: Store) -> None:
    """Its binding is in the trail, and so is its release."""
    _ticket(kept)
    with kept.look() as look:
        person = people.bound_to(look, "https://id.example.org", "7")
    _release(kept)
    with kept.change() as change:
        people.bind(
            change, issuer="https://id.example.org", subject="7", person=person, bound_at_utc=""
        )
    assert verify(kept) == ["the deployment: an account of carla elsewhere was slipped in."]


def test_erasing_a_name_erases_the_account_and_keeps_others_out(kept: Store) -> None:
    """Nothing of address and account is left; under a new address another account needs a yes."""
    _redeem(kept, _ticket(kept))
    who: dict[str, Any] = {"study": "", "grant": _grant(kept), "everywhere": True, **WHO}
    persons.erase_name(kept, **who)
    with pytest.raises(SignInRefused):
        _ticket(kept, 6)
    with kept.look() as look:
        assert [(one.issuer, one.bound_at_utc) for one in people.identities(look)] == [("", "")]
    persons.change_name(kept, name="", email="new@example.org", **who)
    for subject in ("7", "8"):
        with pytest.raises(SignInRefused):
            _ticket(kept, 7, sub=subject, email="new@example.org")
    assert verify(kept) == []
    _release(kept)
    assert _redeem(kept, _ticket(kept, 8, email="new@example.org")).person.name == "carla"


def test_a_revoked_person_gets_no_ticket(kept: Store) -> None:
    """The provider says who, and the roles here say what: nothing any more."""
    persons.give_role(
        kept,
        Newcomer(handle="a", role=Role.ADMINISTRATOR),
        study="",
        code=codes.new_code(entropy_from(12)),
        expires=None,
        everywhere=True,
        by=COMMAND_LINE,
        now=NOW,
    )
    with kept.look() as look:
        grant = look.value("SELECT id FROM grants WHERE role = 'coordinator'")
    persons.revoke(kept, study="", grant=grant, reason="left", by=COMMAND_LINE, now=NOW)
    with pytest.raises(SignInRefused):
        _ticket(kept)
