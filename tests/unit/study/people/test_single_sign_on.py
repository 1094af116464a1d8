"""Single sign-on: the person an identity belongs to, and tickets for a single use."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from study.base.actor import COMMAND_LINE, Acting, By
from study.base.errors import BadInput, NotAllowed, NotNow
from study.people import codes, persons, signing_in, single_sign_on
from study.people.persons import Newcomer
from study.people.roles import Role
from study.people.signing_in import SignInRefused
from study.people.single_sign_on import Identity
from study.store import Store, events, people
from study.store.events import EventKind
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, entropy_from

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
    persons.grant_role(
        store,
        Newcomer(handle="carla", role=Role.COORDINATOR, email="carla@example.org"),
        study="",
        code=codes.new_code(entropy_from(2)),
        acting=ACTING,
    )
    return store


def _grant(store: Store) -> int:
    with store.look() as look:
        return int(look.value("SELECT id FROM grants WHERE role = 'coordinator'"))


def _release(store: Store, *, reason: str = "New account.", by: By = COMMAND_LINE) -> None:
    single_sign_on.release_account(
        store, study="", grant=_grant(store), reason=reason, acting=Acting(by=by, now=NOW)
    )


def _identity(**changed: Any) -> Identity:
    identity = single_sign_on.read_identity({**CLAIMS, **changed})
    assert identity is not None
    return identity


def _ticket(store: Store, seed: int = 3, **changed: Any) -> str:
    return single_sign_on.issue_ticket(
        store, _identity(**changed), entropy=entropy_from(seed), now=NOW
    )


def _redeem(store: Store, text: str, late: timedelta = timedelta()) -> signing_in.SignedIn:
    return single_sign_on.redeem_ticket(store, text, entropy=entropy_from(8), now=NOW + late)


def test_a_verified_address_binds_the_account_once(kept: Store) -> None:
    """Later the account signs in, even with another address."""
    assert _redeem(kept, _ticket(kept)).person.name == "carla"
    text = _ticket(kept, 4, email="other@example.org", email_verified=False)
    assert (
        single_sign_on.redeem_ticket(kept, text, entropy=entropy_from(9), now=NOW).person.name
        == "carla"
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
def test_an_unverified_or_unknown_address_is_refused(kept: Store, changed: dict[str, Any]) -> None:
    """The provider must vouch for the address."""
    with pytest.raises(SignInRefused) as refused:
        _ticket(kept, **changed)
    assert refused.value.why == "no-account"


@pytest.mark.parametrize("away", [timedelta(minutes=6), -timedelta(minutes=6)])
def test_an_old_sign_on_is_refused(kept: Store, away: timedelta) -> None:
    """Streamlit remembers a sign-on for a month; only a recent one is accepted."""
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
def test_claims_without_a_valid_subject_give_no_identity(missing: dict[str, Any]) -> None:
    """Invalid values from a provider do not raise errors."""
    assert single_sign_on.read_identity({**CLAIMS, **missing}) is None


def test_a_ticket_is_valid_once_and_for_a_minute(kept: Store) -> None:
    """Used, late and invented tickets are refused with the same message."""
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
def test_no_other_account_signs_in_a_person_with_an_account(
    kept: Store, changed: dict[str, Any]
) -> None:
    """The same verified address is not enough, for neither another subject nor another issuer."""
    _ticket(kept)
    with pytest.raises(SignInRefused) as refused:
        _ticket(kept, 4, **changed)
    assert refused.value.why == "other-account"
    assert _redeem(kept, _ticket(kept, 5)).person.name == "carla"


def test_a_new_address_of_a_person_does_not_release_the_account(kept: Store) -> None:
    """No other account is accepted under the old or the new address."""
    _ticket(kept)
    persons.change_name(
        kept, study="", grant=_grant(kept), name="", email="new@example.org", acting=ACTING
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
def test_an_address_with_similar_characters_is_a_different_address(kept: Store, email: str) -> None:
    """Another person can own it; only ASCII letters match in either case."""
    with pytest.raises(SignInRefused) as refused:
        _ticket(kept, email=email)
    assert refused.value.why == "no-account"
    assert _redeem(kept, _ticket(kept, email="cArLa@EXAMPLE.org")).person.name == "carla"


def test_only_the_first_of_two_accounts_of_a_person_signs_in(kept: Store) -> None:
    """An earlier version could bind two."""
    _ticket(kept)
    with kept.change() as change:
        people.bind_identity(
            change,
            issuer="https://other.example.org",
            subject="8",
            person=people.person_of_identity(change, "https://id.example.org", "7"),
            bound_at_utc="2026-01-01T00:00:00.000Z",
        )
    _ticket(kept, 4)
    with pytest.raises(SignInRefused):
        _ticket(kept, 5, iss="https://other.example.org", sub="8")


def test_only_one_of_simultaneous_first_sign_ons_is_bound(kept: Store) -> None:
    """All others are refused."""
    with ThreadPoolExecutor(8) as pool:
        tries = [pool.submit(_ticket, kept, 20 + n, sub=str(n)) for n in range(8)]
    refused = [attempt.exception() for attempt in tries]
    assert refused.count(None) == 1
    assert {error.why for error in refused if isinstance(error, SignInRefused)} == {"other-account"}
    with kept.look() as look:
        assert len(people.identities(look)) == 1


def test_an_administrator_can_release_an_account(kept: Store) -> None:
    """The next sign-on binds again; the trail has both, and the released account is signed out."""
    first = _redeem(kept, _ticket(kept))
    waiting = _ticket(kept, 4)
    _release(kept)
    with pytest.raises(SignInRefused):
        _redeem(kept, waiting)
    assert signing_in.signed_in_person(kept, first.token, now=NOW) is None
    assert _redeem(kept, _ticket(kept, 5, sub="8")).person.name == "carla"
    with pytest.raises(SignInRefused):
        _ticket(kept, 6)
    with kept.look() as look:
        (detail,) = events.of_kind(look, events.DEPLOYMENT, EventKind.IDENTITY_RELEASED)
    assert (detail["whose"], detail["reason"]) == ("carla", "New account.")
    assert "7" not in detail["accounts"]
    assert verify(kept) == []


def test_a_release_needs_an_account_an_administrator_and_a_reason(
    kept: Store,
) -> None:
    """Without one of them, nothing is recorded."""
    with pytest.raises(NotNow, match="no sign-in account"):
        _release(kept)
    _ticket(kept)
    with pytest.raises(NotAllowed):
        _release(kept, by=By(name="c", role="coordinator"))
    with pytest.raises(BadInput):
        _release(kept, reason=" ")
    with pytest.raises(SignInRefused):
        _ticket(kept, 4, sub="8")


def test_verification_reports_a_released_account_restored_in_the_file(kept: Store) -> None:
    """The audit trail has its binding and its release."""
    _ticket(kept)
    with kept.look() as look:
        person = people.person_of_identity(look, "https://id.example.org", "7")
    _release(kept)
    with kept.change() as change:
        people.bind_identity(
            change, issuer="https://id.example.org", subject="7", person=person, bound_at_utc=""
        )
    assert verify(kept) == ["the deployment: an account of carla elsewhere was inserted."]


def test_erasing_a_name_erases_the_account(kept: Store) -> None:
    """No address and no account remains; another account needs a release first."""
    _redeem(kept, _ticket(kept))
    person: dict[str, Any] = {"study": "", "grant": _grant(kept), "acting": ACTING}
    persons.erase_name(kept, **person)
    with pytest.raises(SignInRefused):
        _ticket(kept, 6)
    with kept.look() as look:
        assert [
            (identity.issuer, identity.bound_at_utc) for identity in people.identities(look)
        ] == [("", "")]
    persons.change_name(kept, name="", email="new@example.org", **person)
    for subject in ("7", "8"):
        with pytest.raises(SignInRefused):
            _ticket(kept, 7, sub=subject, email="new@example.org")
    assert verify(kept) == []
    _release(kept)
    assert _redeem(kept, _ticket(kept, 8, email="new@example.org")).person.name == "carla"


def test_a_revoked_person_gets_no_ticket(kept: Store) -> None:
    """The provider identifies the person, who no longer has a role."""
    persons.grant_role(
        kept,
        Newcomer(handle="a", role=Role.ADMINISTRATOR),
        study="",
        code=codes.new_code(entropy_from(12)),
        acting=ACTING,
    )
    with kept.look() as look:
        grant = look.value("SELECT id FROM grants WHERE role = 'coordinator'")
    persons.revoke_role(kept, study="", grant=grant, reason="left", acting=ACTING)
    with pytest.raises(SignInRefused):
        _ticket(kept)
