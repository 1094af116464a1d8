"""Single sign-on: the person to whom an identity belongs, and tickets for a single use."""

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
def registered_store(store: Store) -> Store:
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


def test_the_first_sign_on_with_a_verified_address_binds_the_account(
    registered_store: Store,
) -> None:
    """Later sign-ons with the account succeed even if its address has changed."""
    assert _redeem(registered_store, _ticket(registered_store)).person.name == "carla"
    text = _ticket(registered_store, 4, email="other@example.org", email_verified=False)
    assert (
        single_sign_on.redeem_ticket(
            registered_store, text, entropy=entropy_from(9), now=NOW
        ).person.name
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
def test_an_unverified_or_unknown_address_is_refused(
    registered_store: Store, changed: dict[str, Any]
) -> None:
    """The provider must vouch for the address."""
    with pytest.raises(SignInRefused) as refused:
        _ticket(registered_store, **changed)
    assert refused.value.why == "no-account"


@pytest.mark.parametrize("age", [timedelta(minutes=6), -timedelta(minutes=6)])
def test_an_old_sign_on_is_refused(registered_store: Store, age: timedelta) -> None:
    """Streamlit remembers a sign-on for a month; only a recent one is accepted."""
    with pytest.raises(SignInRefused) as refused:
        _ticket(registered_store, iat=(NOW - age).timestamp())
    assert refused.value.why == "stale"


@pytest.mark.parametrize(
    "claim",
    [
        *({"iss": ""}, {"sub": None}, {"iat": "x"}, {"iat": 1e300}, {"iat": None}),
        *({"sub": ["7"]}, {"sub": 7}, {"sub": "7\ud800"}, {"sub": "7" * 256}, {"iss": {}}),
    ],
)
def test_claims_without_a_valid_subject_give_no_identity(claim: dict[str, Any]) -> None:
    """Invalid values from a provider do not raise errors."""
    assert single_sign_on.read_identity({**CLAIMS, **claim}) is None


def test_a_ticket_is_valid_once_and_for_a_minute(registered_store: Store) -> None:
    """Used, late and invented tickets are refused with the same message."""
    text = _ticket(registered_store)
    _redeem(registered_store, text)
    late = _ticket(registered_store, 5)
    for tried, after in ((text, 0), (late, 61), ("made up", 0), ("", 0)):
        with pytest.raises(SignInRefused) as refused:
            _redeem(registered_store, tried, timedelta(seconds=after))
        assert refused.value.why == "ticket"
    with registered_store.look() as look:
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
    registered_store: Store, changed: dict[str, Any]
) -> None:
    """The same verified address does not suffice for another subject or issuer."""
    _ticket(registered_store)
    with pytest.raises(SignInRefused) as refused:
        _ticket(registered_store, 4, **changed)
    assert refused.value.why == "other-account"
    assert _redeem(registered_store, _ticket(registered_store, 5)).person.name == "carla"


def test_a_new_address_of_a_person_does_not_release_the_account(registered_store: Store) -> None:
    """No other account is accepted under the old or the new address."""
    _ticket(registered_store)
    persons.change_name(
        registered_store,
        study="",
        grant=_grant(registered_store),
        name="",
        email="new@example.org",
        acting=ACTING,
    )
    for email in ("carla@example.org", "new@example.org"):
        with pytest.raises(SignInRefused):
            _ticket(registered_store, 4, sub="8", email=email)
    assert _redeem(registered_store, _ticket(registered_store, 5)).person.name == "carla"


@pytest.mark.parametrize(
    "email",
    [
        "\uff43arla@example.org",
        "carla@e\u0445ample.org",
        "carla@example.org\u200b",
        "carla@example.org ",
    ],
)
def test_an_address_with_similar_characters_is_a_different_address(
    registered_store: Store, email: str
) -> None:
    """Another person can own the address; only ASCII letters match in either case."""
    with pytest.raises(SignInRefused) as refused:
        _ticket(registered_store, email=email)
    assert refused.value.why == "no-account"
    assert (
        _redeem(registered_store, _ticket(registered_store, email="cArLa@EXAMPLE.org")).person.name
        == "carla"
    )


def test_only_the_first_of_two_accounts_of_a_person_signs_in(registered_store: Store) -> None:
    """An earlier version could bind two accounts."""
    _ticket(registered_store)
    with registered_store.change() as change:
        people.bind_identity(
            change,
            issuer="https://other.example.org",
            subject="8",
            person=people.person_of_identity(change, "https://id.example.org", "7"),
            bound_at_utc="2026-01-01T00:00:00.000Z",
        )
    _ticket(registered_store, 4)
    with pytest.raises(SignInRefused):
        _ticket(registered_store, 5, iss="https://other.example.org", sub="8")


def test_only_one_of_simultaneous_first_sign_ons_is_bound(registered_store: Store) -> None:
    """All other sign-ons are refused."""
    with ThreadPoolExecutor(8) as pool:
        tries = [pool.submit(_ticket, registered_store, 20 + n, sub=str(n)) for n in range(8)]
    refused = [attempt.exception() for attempt in tries]
    assert refused.count(None) == 1
    assert {error.why for error in refused if isinstance(error, SignInRefused)} == {"other-account"}
    with registered_store.look() as look:
        assert len(people.identities(look)) == 1


def test_an_administrator_can_release_an_account(registered_store: Store) -> None:
    """The next sign-on binds an account again; the trail records both steps."""
    first = _redeem(registered_store, _ticket(registered_store))
    waiting = _ticket(registered_store, 4)
    _release(registered_store)
    with pytest.raises(SignInRefused):
        _redeem(registered_store, waiting)
    assert signing_in.signed_in_person(registered_store, first.token, now=NOW) is None
    assert _redeem(registered_store, _ticket(registered_store, 5, sub="8")).person.name == "carla"
    with pytest.raises(SignInRefused):
        _ticket(registered_store, 6)
    with registered_store.look() as look:
        (detail,) = events.of_kind(look, events.DEPLOYMENT, EventKind.IDENTITY_RELEASED)
    assert (detail["whose"], detail["reason"]) == ("carla", "New account.")
    assert "7" not in detail["accounts"]
    assert verify(registered_store) == []


def test_a_release_needs_an_account_an_administrator_and_a_reason(
    registered_store: Store,
) -> None:
    """If one of them is missing, nothing is recorded."""
    with pytest.raises(NotNow, match="no sign-in account"):
        _release(registered_store)
    _ticket(registered_store)
    with pytest.raises(NotAllowed):
        _release(registered_store, by=By(name="c", role="coordinator"))
    with pytest.raises(BadInput):
        _release(registered_store, reason=" ")
    with pytest.raises(SignInRefused):
        _ticket(registered_store, 4, sub="8")


def test_verification_reports_a_released_account_restored_in_the_file(
    registered_store: Store,
) -> None:
    """The audit trail has the binding and the release of the account."""
    _ticket(registered_store)
    with registered_store.look() as look:
        person = people.person_of_identity(look, "https://id.example.org", "7")
    _release(registered_store)
    with registered_store.change() as change:
        people.bind_identity(
            change, issuer="https://id.example.org", subject="7", person=person, bound_at_utc=""
        )
    assert verify(registered_store) == [
        "the deployment: an account of carla elsewhere was inserted."
    ]


def test_erasing_a_name_erases_the_account(registered_store: Store) -> None:
    """No address and no account is kept; another account can be bound only after a release."""
    _redeem(registered_store, _ticket(registered_store))
    person: dict[str, Any] = {"study": "", "grant": _grant(registered_store), "acting": ACTING}
    persons.erase_name(registered_store, **person)
    with pytest.raises(SignInRefused):
        _ticket(registered_store, 6)
    with registered_store.look() as look:
        assert [
            (identity.issuer, identity.bound_at_utc) for identity in people.identities(look)
        ] == [("", "")]
    persons.change_name(registered_store, name="", email="new@example.org", **person)
    for subject in ("7", "8"):
        with pytest.raises(SignInRefused):
            _ticket(registered_store, 7, sub=subject, email="new@example.org")
    assert verify(registered_store) == []
    _release(registered_store)
    assert (
        _redeem(registered_store, _ticket(registered_store, 8, email="new@example.org")).person.name
        == "carla"
    )


def test_a_revoked_person_gets_no_ticket(registered_store: Store) -> None:
    """The provider identifies the person, who no longer has a role."""
    persons.grant_role(
        registered_store,
        Newcomer(handle="a", role=Role.ADMINISTRATOR),
        study="",
        code=codes.new_code(entropy_from(12)),
        acting=ACTING,
    )
    with registered_store.look() as look:
        grant = look.value("SELECT id FROM grants WHERE role = 'coordinator'")
    persons.revoke_role(registered_store, study="", grant=grant, reason="left", acting=ACTING)
    with pytest.raises(SignInRefused):
        _ticket(registered_store)
