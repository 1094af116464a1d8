"""Single sign-on: whom an identity stands for, and tickets that are good once."""

from datetime import timedelta
from typing import Any

import pytest

from study.base.actor import COMMAND_LINE
from study.people import codes, persons, signing_in, single_sign_on
from study.people.persons import Newcomer
from study.people.roles import Role
from study.people.signing_in import SignInRefused
from study.people.single_sign_on import Identity
from study.store import Store
from tests.conftest import NOW, entropy_from

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


@pytest.mark.parametrize("missing", [{"iss": ""}, {"sub": None}, {"iat": "x"}, {"iat": 1e300}])
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


def test_erasing_a_name_forgets_the_account(kept: Store) -> None:
    """Neither the address nor the bound identity signs in any more."""
    _redeem(kept, _ticket(kept))
    with kept.look() as look:
        grant = look.value("SELECT id FROM grants")
    persons.erase_name(kept, study="", grant=grant, everywhere=True, by=COMMAND_LINE, now=NOW)
    with pytest.raises(SignInRefused):
        _ticket(kept, 6)


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
