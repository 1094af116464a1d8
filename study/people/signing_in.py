"""Signs people in and out: issues tokens to browsers, and returns the person who owns a token.

After authentication by an access code or single sign-on, a browser gets a token, of which the store
contains only a hash. The person's current role and other roles are read from the store at every
request. The trail contains a pseudonym ("mark") of the address of a request; the address is stored
separately.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from study.base.actor import Acting, By
from study.base.canonical import moment, stamp, without_surrogates
from study.base.errors import NotAllowed
from study.base.text import quoted
from study.base.translation import t
from study.people import second_factor
from study.people.codes import REPORTED_FAILURES, Entropy, is_code_of, public_part
from study.people.roles import (
    COMMON_PERMISSIONS,
    DEPLOYMENT_PERMISSIONS,
    STUDY_PERMISSIONS,
    Act,
    Role,
)
from study.store import Store, Transaction, events, people, readings, studies
from study.store.deployment import keyed_mark
from study.store.events import EventKind
from study.store.people import GrantRow, SignInRow

MAX_DURATION = timedelta(hours=14)
"""Maximum duration of a sign-in."""

MAX_IDLE_TIME = timedelta(hours=2)
"""Time without input after which a sign-in ends, as another person may be at the computer."""

ACTIVITY_INTERVAL = timedelta(seconds=30)
"""Minimum interval between two records of activity."""

_MAX_CLOCK_SETBACK = timedelta(minutes=5)
"""How far in the future a sign-in's time may be; after the clock is set back, sign-ins end."""


class SignInRefused(NotAllowed):
    """A sign-in was refused; `why` is a keyword of the reason for the sign-in page."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.why = reason


class SecondFactorDue(SignInRefused):
    """The access code is correct; `confirm_second_factor` continues the sign-in with `token`."""

    def __init__(self, token: str) -> None:
        super().__init__("second-factor", t("Enter the code of your authenticator app."))
        self.token = token


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A signed-in person in their current role and study.

    `study` is None if none is selected; `role` is then the role for the deployment, if any.
    `sign_in` is the same for all requests of a sign-in. `place` is the mark of the request's
    address. `several` states whether the person can choose between roles, and `must_add_factor`
    whether the person must add a second factor first.
    """

    role: Role | None = None
    study: int | None = None
    study_name: str = ""
    reader: int | None = None
    name: str
    id: int = 0
    deployment: Role | None = None
    sign_in: str = ""
    place: str = ""
    several: bool = False
    must_add_factor: bool = False

    def may(self, act: Act) -> bool:
        """Return whether this person has a permission in the current study."""
        if self.must_add_factor:
            return act is Act.ACCOUNT
        if act in COMMON_PERMISSIONS:
            return True
        if self.deployment and act in DEPLOYMENT_PERMISSIONS[self.deployment]:
            return True
        return (
            self.study is not None and self.role is not None and act in STUDY_PERMISSIONS[self.role]
        )

    @property
    def by(self) -> By:
        """Return the actor for the trail; a reader is identified only by their study code."""
        role = "" if self.reader else str(self.role or self.deployment or "")
        return By(name=self.name, role=role, place=self.place, everywhere=self.may(Act.DEPLOYMENT))


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """A role that a person can select, and its study (None: the deployment)."""

    grant: int
    role: Role
    study: int | None
    study_name: str
    state: str
    reader: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """A person who has just signed in, and the token for their browser."""

    person: Person
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Browser:
    """The browser used for a sign-in: the mark of its address, and the person now signed in."""

    place: str = ""
    current: Person | None = None


UNKNOWN_BROWSER = Browser()


def sign_in(
    store: Store,
    code: str,
    *,
    entropy: Entropy,
    now: datetime,
    browser: Browser = UNKNOWN_BROWSER,
) -> SignedIn:
    """Sign in the person with an access code, and record it.

    Wrong attempts never block a code, because 50 random bits cannot be guessed.

    Raises
    ------
    SignInRefused
        The code is wrong (the message does not say which part) or has expired, or the sign-in is
        refused by `complete_sign_in`.
    """
    with store.look() as look:
        row = people.code_by_lookup(look, public_part(code))
    if not is_code_of(code, row) or row is None:
        if row is not None:
            _count_failure(store, row.person, now, browser.place)
        raise SignInRefused(
            "unknown",
            t(
                "This access code is not recognised. Check it character by character, or ask your "
                "coordinator."
            ),
        )
    if row.expires_at_utc and row.expires_at_utc <= stamp(now):
        raise SignInRefused(
            "expired", t("This access code has expired. Ask your coordinator for a new one.")
        )
    with store.look() as look:
        is_asked = second_factor.is_required(look, row.person)
    if is_asked:
        raise SecondFactorDue(_start_second_factor(store, row.person, entropy, now))
    return complete_sign_in(store, row.person, entropy=entropy, now=now, browser=browser)


def _start_second_factor(store: Store, person_id: int, entropy: Entropy, now: datetime) -> str:
    """Return a new token for a sign-in that waits for the second factor."""
    token = entropy(32).hex()
    expires = stamp(now + second_factor.ENTRY_TIME)
    with store.change() as change:
        people.add_ticket(change, id=_pending_id(token), person=person_id, expires_at_utc=expires)
    return token


def _pending_id(token: str) -> str:
    return f"pending/{_token_id(token)}"


def confirm_second_factor(
    store: Store,
    token: str,
    code: str,
    *,
    entropy: Entropy,
    now: datetime,
    browser: Browser = UNKNOWN_BROWSER,
) -> SignedIn:
    """Complete a sign-in that waits for the second factor, with a one-time or recovery code.

    Raises
    ------
    SignInRefused
        The access code was entered too long ago, the code is wrong, codes are refused for a while
        after too many wrong ones, or the sign-in is refused by `complete_sign_in`.
    """
    with store.change() as change:
        person_id = people.ticket_holder(change, _pending_id(token), stamp(now))
        reason = (
            second_factor.use(change, person_id, code, now) if person_id is not None else "ticket"
        )
        if not reason:
            people.take_ticket(change, _pending_id(token), stamp(now))
    if person_id is None or reason:
        if person_id is not None:
            _count_failure(store, person_id, now, browser.place)
        raise SignInRefused(reason, t("This code was not accepted."))
    return complete_sign_in(
        store, person_id, entropy=entropy, now=now, browser=browser, method="second factor"
    )


def complete_sign_in(
    store: Store,
    person_id: int,
    *,
    entropy: Entropy,
    now: datetime,
    browser: Browser = UNKNOWN_BROWSER,
    method: str = "code",
) -> SignedIn:
    """Sign in a person who was authenticated by a `method` (see `SignInRow`), and record it.

    Raises
    ------
    SignInRefused
        The person has no role, or the person signed in to this browser runs a study in which this
        person is a reader.
    """
    token = entropy(32).hex()
    with store.change() as change:
        grants = _grants_of(change, person_id)
        if not grants:
            raise SignInRefused(
                "no-part", t("You no longer have a role in any study here. Ask your coordinator.")
            )
        _refuse_other_sign_in(change, grants, browser.current)
        only = grants[0] if len(grants) == 1 else None
        people.reset_failures(change, person_id)
        people.set_last_seen(change, person_id, stamp(now))
        people.end_old_sign_ins(change, _valid_span(now))
        people.add_sign_in(
            change,
            id=_token_id(token),
            person=person_id,
            grant_id=only.id if only else None,
            study=only.study if only else None,
            at_utc=stamp(now),
            active_at_utc=stamp(now),
            method=method,
        )
        row = people.by_sign_in(change, _token_id(token), _valid_span(now))
        assert row is not None  # added above
        person = _person(change, row, grants, token, browser.place)
        _record_arrival(change, person, now)
    return SignedIn(person=person, token=token)


def signed_in_person(store: Store, token: str, *, now: datetime, place: str = "") -> Person | None:
    """Return the person of a browser's token, or None; see `person_of`."""
    with store.look() as look:
        return person_of(look, token, now=now, place=place)


def person_of(look: Transaction, token: str, *, now: datetime, place: str = "") -> Person | None:
    """Return the person who owns a browser's token.

    The result is None if the token is unknown, signed out, older than `MAX_DURATION`, unused for
    `MAX_IDLE_TIME` or from the future, if its code was replaced, or if the person no longer has a
    role.
    """
    row = people.by_sign_in(look, _token_id(token), _valid_span(now))
    grants = _grants_of(look, row.person) if row else []
    return _person(look, row, grants, token, place) if row and grants else None


def time_left(store: Store, token: str, *, now: datetime) -> timedelta | None:
    """Return the time after which a sign-in ends if there is no input; None if it has ended."""
    with store.look() as look:
        row = people.by_sign_in(look, _token_id(token), _valid_span(now))
    if row is None:
        return None
    return moment(row.active_at_utc) + MAX_IDLE_TIME - now


def record_activity(store: Store, token: str, *, now: datetime) -> None:
    """Record activity in a sign-in, unless it has ended."""
    with store.look() as look:
        row = people.by_sign_in(look, _token_id(token), _valid_span(now))
    if row is not None and now - moment(row.active_at_utc) >= ACTIVITY_INTERVAL:
        with store.change() as change:
            people.mark_active(change, _token_id(token), stamp(now))


def has_lost_role(look: Transaction, token: str, *, now: datetime) -> bool:
    """Return whether a sign-in belongs to a reader whose role in the study has ended."""
    row = people.by_sign_in(look, _token_id(token), _valid_span(now))
    grant = people.grant_row(look, row.grant_id) if row and row.grant_id else None
    return grant is not None and bool(grant.reader and grant.revoked_at_utc)


def memberships(store: Store, person: Person) -> list[Membership]:
    """Return the roles that a person can select; for administrators, in every study."""
    with store.look() as look:
        roles = [_membership(row) for row in _grants_of(look, person.id)]
        own_studies = {membership.study for membership in roles}
        administered = [
            membership
            for membership in roles
            if membership.study is None and membership.role is Role.ADMINISTRATOR
        ]
        for row in studies.listed(look) if administered else ():
            if row.id not in own_studies and not row.discarded_at_utc:
                roles.append(
                    Membership(
                        grant=administered[0].grant,
                        role=Role.ADMINISTRATOR,
                        study=row.id,
                        study_name=row.name,
                        state=row.state,
                    )
                )
    return roles


def select_role(
    store: Store, token: str, *, grant: int, study: int | None, now: datetime, place: str = ""
) -> Person:
    """Select another role or study in a sign-in; return the person in the new role.

    Raises
    ------
    NotAllowed
        The sign-in has ended, or the person does not have this role.
    """
    person = signed_in_person(store, token, now=now, place=place)
    if person is None:
        raise NotAllowed(t("Sign in first."))
    if (grant, study) not in {
        (membership.grant, membership.study) for membership in memberships(store, person)
    }:
        raise NotAllowed(t("You do not have a role in this study. Ask its coordinator."))
    with store.change() as change:
        people.choose(change, _token_id(token), grant, study)
        row = people.by_sign_in(change, _token_id(token), _valid_span(now))
        if row is None:
            raise NotAllowed(t("Sign in first."))
        chosen = _person(change, row, _grants_of(change, row.person), token, place)
        if chosen.study != person.study:
            _record_arrival(change, chosen, now)
    return chosen


def sign_out(store: Store, token: str, *, now: datetime, place: str = "") -> None:
    """End a sign-in in all tabs, and record it."""
    with store.change() as change:
        row = people.by_sign_in(change, _token_id(token), _valid_span(now))
        if row is not None:
            person = _person(change, row, _grants_of(change, row.person), token, place)
            events.record(
                change,
                person.study_name,
                Acting(by=person.by, now=now),
                kind=EventKind.SIGNED_OUT,
                detail={},
            )
        people.end_sign_in(change, _token_id(token))


def sign_in_mark(token_id: str, person: int) -> str:
    """Return the mark of a person's sign-in, which is derived from the hash of its token."""
    return hashlib.sha256(f"sign-in/{person}/{token_id}".encode()).hexdigest()[:32]


def record_guessing(store: Store, n_tries: int, *, now: datetime, place: str) -> None:
    """Record the number of wrong codes from an address in the deployment's trail."""
    with store.change() as change:
        actor, detail = By(name="nobody", place=place), {"failures": n_tries}
        events.record(
            change, "", Acting(by=actor, now=now), kind=EventKind.CODES_GUESSED_AT, detail=detail
        )


def _count_failure(store: Store, person_id: int, now: datetime, place: str) -> None:
    with store.change() as change:
        if people.count_failure(change, person_id) != REPORTED_FAILURES:
            return
        for row in people.current_grants(change, person_id):
            events.record(
                change,
                row.study_name or "",
                Acting(by=By(name="nobody", place=place), now=now),
                kind=EventKind.CODE_GUESSED_AT,
                detail={"whose": row.holder_name, "failures": REPORTED_FAILURES},
            )


def _refuse_other_sign_in(
    look: Transaction, grants: Sequence[GrantRow], current: Person | None
) -> None:
    """Refuse a reader's sign-in if the person who is now signed in runs the reader's study."""
    if current is None:
        return
    runs = [row for row in people.current_grants(look, current.id) if row.role != Role.READER]
    is_server_wide = any(row.study is None for row in runs)
    for row in grants:
        if row.role == Role.READER and (
            is_server_wide or row.study in {other.study for other in runs}
        ):
            raise SignInRefused(
                "runs-it",
                t(
                    "This browser is signed in as someone with another role in {study_name}. "
                    "Sign out first; anyone who runs a study cannot read in it.",
                    study_name=quoted(row.study_name),
                ),
            )


def _record_arrival(change: Transaction, person: Person, now: datetime) -> None:
    events.record(
        change,
        person.study_name,
        Acting(by=By(name=person.name, place=person.place), now=now),
        kind=EventKind.SIGNED_IN,
        detail={"role": str(person.role or person.deployment or ""), "sign_in": person.sign_in},
    )


def _person(
    look: Transaction, row: SignInRow, grants: Sequence[GrantRow], token: str, place: str
) -> Person:
    """Return the signed-in person in their current role."""
    chosen = next((grant for grant in grants if grant.id == row.grant_id), None)
    deployment_roles = [Role(grant.role) for grant in grants if grant.study is None]
    study, study_name = (chosen.study, chosen.study_name) if chosen else (None, None)
    if chosen and study is None and row.study is not None:  # an administrator inside a study
        study_name = studies.name_of(look, row.study)
        study = row.study if study_name else None
    return Person(
        role=Role(chosen.role) if chosen else None,
        study=study,
        study_name=study_name or "",
        reader=chosen.reader if chosen else None,
        name=chosen.holder_name if chosen else row.handle,
        id=row.person,
        deployment=(
            min(deployment_roles) if deployment_roles else None
        ),  # administrator comes before coordinator
        sign_in=sign_in_mark(_token_id(token), row.person),
        place=place,
        several=len(grants) > 1 or Role.ADMINISTRATOR in deployment_roles,
        must_add_factor=row.method == "code"
        and any(grant.role != Role.READER for grant in grants)
        and second_factor.must_add(look, row.person),
    )


def _grants_of(look: Transaction, person_id: int) -> list[GrantRow]:
    """Return a person's roles, except in discarded studies."""
    return [row for row in people.current_grants(look, person_id) if not row.discarded_at_utc]


def _membership(row: GrantRow) -> Membership:
    return Membership(
        grant=row.id,
        role=Role(row.role),
        study=row.study,
        study_name=row.study_name or "",
        state=row.state or "",
        reader=row.reader,
    )


def _valid_span(now: datetime) -> people.Span:
    """Return the limits for the times of creation and last use of valid sign-ins."""
    return {
        "since_utc": stamp(now - MAX_DURATION),
        "until_utc": stamp(now + _MAX_CLOCK_SETBACK),
        "active_since_utc": stamp(now - MAX_IDLE_TIME),
    }


def _token_id(token: str) -> str:
    """Return the hash of a token, which is stored instead of the token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


_MAX_ADDRESS_LENGTH = 200


def place_mark(look: Transaction, address: str) -> str:
    """Return the mark of an address for the trail."""
    return keyed_mark(look, f"place/{address}")[:12]


def remember_place(store: Store, address: str, *, agent: str, now: datetime) -> str:
    """Return the mark of an address; store both when the address first occurs."""
    if not address:
        return ""
    with store.look() as look:
        mark = place_mark(look, address)
        if people.knows_place(look, mark):
            return mark
    with store.change() as change:
        people.add_place(
            change,
            mark=mark,
            address=address[:_MAX_ADDRESS_LENGTH],
            agent=without_surrogates(agent)[:_MAX_ADDRESS_LENGTH],
            first_seen_at_utc=stamp(now),
        )
    return mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A role that a person can select, with the counts they may see.

    `here` states whether it is the current role. Readers see `n_read` and `n_assigned`, staff see
    `n_readers`; the other counts are None.
    """

    membership: Membership
    here: bool
    n_read: int | None = None
    n_assigned: int | None = None
    n_readers: int | None = None


def choices(store: Store, person: Person) -> list[Choice]:
    """Return the studies that a person can select, with the counts that they may see."""
    return [
        _choice(store, person, membership)
        for membership in memberships(store, person)
        if membership.study is not None
    ]


def _choice(store: Store, person: Person, membership: Membership) -> Choice:
    current = (membership.study, membership.role) == (person.study, person.role)
    if membership.study is None or not {Act.READ, Act.WATCH} & STUDY_PERMISSIONS[membership.role]:
        return Choice(membership=membership, here=current)
    with store.look() as look:
        if membership.reader is None:
            n_readers = len(people.readers(look, membership.study))
            return Choice(membership=membership, here=current, n_readers=n_readers)
        counts = readings.counts(look, membership.reader)
    return Choice(
        membership=membership, here=current, n_read=counts.n_read, n_assigned=counts.n_assigned
    )
