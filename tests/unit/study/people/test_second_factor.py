"""The second factor of staff who sign in by access code."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import count

import pyotp
import pytest

from study.base.actor import Acting, By
from study.base.errors import BadInput, NotAllowed, NotNow
from study.lifecycle.deployments import administrator_code
from study.people import second_factor, signing_in, single_sign_on
from study.people.roles import Act
from study.people.second_factor import N_FREE_ATTEMPTS, NewFactor, Policy
from study.people.signing_in import Person, SecondFactorDue, SignedIn, SignInRefused
from study.store import Store, events
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, entropy_from, invite

_SEEDS = count(20)


def _code(store: Store) -> str:
    codes: list[str] = []
    administrator_code(store, name="admin", entropy=entropy_from(3), now=NOW, deliver=codes.append)
    return codes[0]


def _sign_in(store: Store, code: str, now: datetime = NOW) -> SignedIn:
    return signing_in.sign_in(store, code, entropy=entropy_from(next(_SEEDS)), now=now)


def _confirm(store: Store, pending: str, code: str, now: datetime) -> Person:
    entropy = entropy_from(next(_SEEDS))
    return signing_in.confirm_second_factor(store, pending, code, entropy=entropy, now=now).person


def _pending_sign_in(store: Store, code: str, now: datetime) -> str:
    with pytest.raises(SecondFactorDue) as due:
        _sign_in(store, code, now)
    return due.value.token


def _add_factor(store: Store, code: str, now: datetime = NOW) -> tuple[NewFactor, list[str]]:
    person = _sign_in(store, code, now).person
    new = second_factor.new_factor(person.name)
    recovery = second_factor.add(
        store,
        person.id,
        new,
        _app_code(new, now),
        entropy=entropy_from(next(_SEEDS)),
        acting=Acting(by=person.by, now=now),
    )
    return new, recovery


def _app_code(new: NewFactor, at: datetime) -> str:
    return pyotp.TOTP(new.secret).at(at)


def test_a_code_of_the_app_is_accepted_once_within_one_time_step(store: Store) -> None:
    """A code seen by another person cannot be used again."""
    code = _code(store)
    new, _ = _add_factor(store, code)
    steps = [NOW + timedelta(seconds=30 * n) for n in range(6)]
    pending = _pending_sign_in(store, code, steps[2])
    with pytest.raises(
        SignInRefused, match="not accepted"
    ):  # the code with which the app was confirmed
        _confirm(store, pending, _app_code(new, NOW), NOW + timedelta(seconds=29))
    early = _app_code(new, steps[3])
    assert _confirm(store, pending, f" {early[:3]} {early[3:]}", steps[2]).name == "admin"
    for digits in (early, _app_code(new, steps[2])):
        pending = _pending_sign_in(store, code, steps[3])
        with pytest.raises(SignInRefused) as refused:
            _confirm(store, pending, digits, steps[3])
        assert refused.value.why == "factor"
    assert _confirm(store, pending, _app_code(new, steps[4]), steps[5]).may(Act.DEPLOYMENT)
    assert verify(store) == []


def test_a_pending_sign_in_gives_no_access_and_lasts_five_minutes(store: Store) -> None:
    """The access code alone gives no access."""
    code = _code(store)
    new, _ = _add_factor(store, code)
    at = NOW + timedelta(minutes=1)
    pending = _pending_sign_in(store, code, at)
    assert signing_in.signed_in_person(store, pending, now=at) is None
    for text in (pending, f"pending/{pending}"):
        with pytest.raises(SignInRefused):
            single_sign_on.redeem_ticket(store, text, entropy=entropy_from(9), now=at)
    late = at + second_factor.ENTRY_TIME + timedelta(seconds=1)
    with pytest.raises(SignInRefused) as refused:
        _confirm(store, pending, _app_code(new, late), late)
    assert refused.value.why == "ticket"


def test_each_recovery_code_works_once(store: Store) -> None:
    """Recovery codes are accepted in lower case and without the hyphen."""
    code = _code(store)
    _, recovery = _add_factor(store, code)
    assert len(set(recovery)) == 10
    at = NOW + timedelta(minutes=1)
    assert (
        _confirm(store, _pending_sign_in(store, code, at), recovery[0].lower(), at).name == "admin"
    )
    pending = _pending_sign_in(store, code, at)
    with pytest.raises(SignInRefused):
        _confirm(store, pending, recovery[0], at)
    _confirm(store, pending, recovery[1].replace("-", ""), at)


def test_guessing_is_delayed_on_every_server(store: Store) -> None:
    """After five wrong codes even a correct code is refused for a while; the trail records it."""
    code = _code(store)
    new, _ = _add_factor(store, code)
    at = NOW + timedelta(minutes=1)
    pending = _pending_sign_in(store, code, at)
    for _ in range(N_FREE_ATTEMPTS):
        with pytest.raises(SignInRefused):
            _confirm(store, pending, "000000x", at)
    with pytest.raises(SignInRefused) as refused:
        _confirm(store, pending, _app_code(new, at), at)
    assert refused.value.why == "factor-wait"
    later = at + second_factor.wait_after(N_FREE_ATTEMPTS)
    assert _confirm(store, pending, _app_code(new, later), later).name == "admin"


@pytest.mark.parametrize("policy", Policy)
def test_the_policy_decides_who_needs_a_second_factor(store: Store, policy: Policy) -> None:
    """Under "always", staff without a second factor can only add one."""
    code = _code(store)
    if policy is not Policy.OPTIONAL:
        second_factor.set_policy(store, policy, acting=ACTING)
    with pytest.raises(NotNow):
        second_factor.set_policy(store, policy, acting=ACTING)
    person = _sign_in(store, code).person
    forced = policy is Policy.ALWAYS
    assert {act for act in Act if person.may(act)} >= {Act.ACCOUNT}
    assert person.may(Act.DEPLOYMENT) is not forced
    assert person.may(Act.CHOOSE) is not forced
    _add_factor(store, code)
    at = NOW + timedelta(minutes=1)
    if policy is Policy.NEVER:
        assert _sign_in(store, code, at).person.may(Act.DEPLOYMENT)
    else:
        _pending_sign_in(store, code, at)


def test_a_sign_in_has_all_permissions_once_the_factor_is_added(store: Store) -> None:
    """The person does not have to sign in again."""
    second_factor.set_policy(store, Policy.ALWAYS, acting=ACTING)
    code = _code(store)
    entered = _sign_in(store, code)
    new = second_factor.new_factor("admin")
    with pytest.raises(BadInput, match="six digits"):
        second_factor.add(
            store, entered.person.id, new, "123", entropy=entropy_from(8), acting=ACTING
        )
    second_factor.add(
        store, entered.person.id, new, _app_code(new, NOW), entropy=entropy_from(8), acting=ACTING
    )
    now_signed_in = signing_in.signed_in_person(store, entered.token, now=NOW)
    assert now_signed_in is not None
    assert now_signed_in.may(Act.DEPLOYMENT)


def test_readers_are_never_asked_for_a_second_factor(opened: Callable[..., Store]) -> None:
    """The policy that requires a second factor applies to staff only."""
    trial = opened(readers=("R1",))
    second_factor.set_policy(trial, Policy.ALWAYS, acting=ACTING)
    (code,) = invite(trial, "R9")
    reader = _sign_in(trial, code.text).person
    assert reader.may(Act.READ)
    assert not reader.may(Act.ACCOUNT)


def test_an_administrator_removes_a_lost_factor_with_a_reason(store: Store) -> None:
    """The secret and the codes are not in the trail or any chain."""
    code = _code(store)
    new, recovery = _add_factor(store, code)
    with store.look() as look:
        grant = look.value("SELECT max(id) FROM grants")
    remove = partial(second_factor.remove, store, study="", grant=grant, acting=ACTING)
    with pytest.raises(NotAllowed):
        remove(reason="Phone lost.", acting=replace(ACTING, by=By(name="c", role="coordinator")))
    with pytest.raises(BadInput):
        remove(reason=" ")
    remove(reason="Phone lost.")
    with pytest.raises(NotNow):
        remove(reason="Phone lost.")
    assert _sign_in(store, code).person.may(Act.DEPLOYMENT)
    with store.look() as look:
        trail = str(look.rows("SELECT * FROM events"))
        kinds = [row["kind"] for row in look.rows("SELECT kind FROM events ORDER BY id")]
    assert new.secret not in trail
    assert not any(text in trail for text in recovery)
    assert kinds.count(events.EventKind.SECOND_FACTOR_REMOVED) == 1
    assert verify(store) == []
