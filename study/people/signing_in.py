"""Signing in: who a browser's token stands for, where they are, how long it lasts, and its end.

Whoever has shown who they are (by a code, or elsewhere) gets a token, which the store knows as a
hash only; in which of their roles they are, and in which they may go on, is asked of the store at
every request. The trail has a mark of the address an act comes from; what it stands for is kept
apart.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from study.base.actor import By
from study.base.canonical import moment, stamp, without_surrogates
from study.base.errors import NotAllowed
from study.base.translation import t
from study.people.codes import Entropy, is_of, lookup
from study.people.roles import ANYWHERE, IN_DEPLOYMENT, IN_STUDY, Act, Role
from study.store import Store, Transaction, events, people, readings, studies
from study.store.deployment import keyed_mark
from study.store.events import EventKind
from study.store.people import GrantRow, SignInRow

STAYS = timedelta(hours=14)
"""How long a sign-in lasts."""

IDLE = timedelta(hours=2)
"""How long it lasts while nobody touches the computer: somebody else may come to it."""

MARKED_EVERY = timedelta(seconds=30)
"""How often that somebody is there is written down."""

_CLOCKS_APART = timedelta(minutes=5)
"""How far in the future a sign-in may lie: one made before the clock was set back ends."""

GUESSED = 20
"""Wrong tries at one code in a row that are told in the trail and on the list of people."""


class SignInRefused(NotAllowed):
    """A sign-in that was refused; `why` is a word for its reason, for the page that says it."""

    def __init__(self, why: str, text: str) -> None:
        super().__init__(text)
        self.why = why


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Whoever is signed in, in the role and study they are in at present.

    `study` is None while none is chosen; `role` then is the one held for the deployment, if any.
    `sign_in` is the same for every request of one sign-in, and another at the next. `place` is the
    mark of where this request comes from. `several` says that there is more than one standing to
    choose from.
    """

    role: Role | None
    study: int | None
    study_name: str
    reader: int | None
    name: str
    id: int = 0
    deployment: Role | None = None
    sign_in: str = ""
    place: str = ""
    several: bool = False

    def may(self, act: Act) -> bool:
        """Return whether this person may do something where they are."""
        if act in ANYWHERE:
            return True
        if self.deployment and act in IN_DEPLOYMENT[self.deployment]:
            return True
        return self.study is not None and self.role is not None and act in IN_STUDY[self.role]

    @property
    def by(self) -> By:
        """Return who acts, for the trail; a reader's study code says that they read."""
        role = "" if self.reader else str(self.role or self.deployment or "")
        return By(name=self.name, role=role, place=self.place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """A role a person may go on in, and the study it is in (None: the deployment)."""

    grant: int
    role: Role
    study: int | None
    study_name: str
    state: str
    reader: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """Somebody who has just signed in, and the token their browser keeps."""

    person: Person
    token: str


def sign_in(
    store: Store,
    code: str,
    *,
    entropy: Entropy,
    now: datetime,
    place: str = "",
    beside: Person | None = None,
) -> SignedIn:
    """Return the person a code belongs to with a token for their browser; record that they came.

    Parameters
    ----------
    beside
        Whoever is signed in to the same browser already.

    Raises
    ------
    Refused
        No such code (the text does not tell which part was wrong), or one that has expired, or is
        refused by `enter`. Whoever guesses never keeps out whoever knows: 50 bits are not guessed.
    """
    with store.look() as look:
        row = people.by_lookup(look, lookup(code))
    if not is_of(code, row) or row is None:
        if row is not None:
            _count_failure(store, row.person, now, place)
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
    return enter(store, row.person, entropy=entropy, now=now, place=place, beside=beside)


def enter(
    store: Store,
    person_id: int,
    *,
    entropy: Entropy,
    now: datetime,
    place: str = "",
    beside: Person | None = None,
) -> SignedIn:
    """Sign in somebody who has shown who they are, by a code or elsewhere; record that they came.

    Raises
    ------
    Refused
        They have no role here any more, or whoever is signed in beside runs a study they read in.
    """
    token = entropy(32).hex()
    with store.change() as change:
        held = _held(change, person_id)
        if not held:
            raise SignInRefused(
                "no-part", t("You no longer have a role in any study here. Ask your coordinator.")
            )
        _refuse_beside(change, held, beside)
        only = held[0] if len(held) == 1 else None
        people.forget_failures(change, person_id)
        people.see(change, person_id, stamp(now))
        people.end_old_sign_ins(change, _span(now))
        people.add_sign_in(
            change,
            id=_token_id(token),
            person=person_id,
            grant_id=only.id if only else None,
            study=only.study if only else None,
            at_utc=stamp(now),
            active_at_utc=stamp(now),
        )
        row = people.by_sign_in(change, _token_id(token), _span(now))
        assert row is not None  # it was written a line above
        person = _person(change, row, held, token, place)
        _record_arrival(change, person, now)
    return SignedIn(person=person, token=token)


def signed_in(store: Store, token: str, *, now: datetime, place: str = "") -> Person | None:
    """Return the person a browser's token stands for, as the store knows them now."""
    with store.look() as look:
        return person_of(look, token, now=now, place=place)


def person_of(look: Transaction, token: str, *, now: datetime, place: str = "") -> Person | None:
    """Return the person a browser's token stands for.

    None where the token is unknown, older than `STAYS`, left alone for `IDLE`, from the future,
    signed out, or its code was replaced, and where the person has no role any more.
    """
    row = people.by_sign_in(look, _token_id(token), _span(now))
    held = _held(look, row.person) if row else []
    return _person(look, row, held, token, place) if row and held else None


def time_left(store: Store, token: str, *, now: datetime) -> timedelta | None:
    """Return how long a sign-in lasts if nobody touches the computer; None where it has ended."""
    with store.look() as look:
        row = people.by_sign_in(look, _token_id(token), _span(now))
    if row is None:
        return None
    return moment(row.active_at_utc) + IDLE - now


def stay(store: Store, token: str, *, now: datetime) -> None:
    """Note that somebody is at the computer of a sign-in; one that has ended stays so."""
    with store.look() as look:
        row = people.by_sign_in(look, _token_id(token), _span(now))
    if row is not None and now - moment(row.active_at_utc) >= MARKED_EVERY:
        with store.change() as change:
            people.mark_active(change, _token_id(token), stamp(now))


def has_left(look: Transaction, token: str, *, now: datetime) -> bool:
    """Return whether a sign-in is that of a reader whose role in their study has ended."""
    row = people.by_sign_in(look, _token_id(token), _span(now))
    given = people.grant_row(look, row.grant_id) if row and row.grant_id else None
    return given is not None and bool(given.reader and given.revoked_at_utc)


def memberships(store: Store, person: Person) -> list[Membership]:
    """Return every role a person may go on in: their own, and every study for an administrator."""
    with store.look() as look:
        found = [_membership(row) for row in _held(look, person.id)]
        own = {one.study for one in found}
        whole = [one for one in found if one.study is None and one.role is Role.ADMINISTRATOR]
        for row in studies.listed(look) if whole else ():
            if row.id not in own and not row.discarded_at_utc:
                found.append(
                    Membership(
                        grant=whole[0].grant,
                        role=Role.ADMINISTRATOR,
                        study=row.id,
                        study_name=row.name,
                        state=row.state,
                    )
                )
    return found


def choose(
    store: Store, token: str, *, grant: int, study: int | None, now: datetime, place: str = ""
) -> Person:
    """Let a sign-in go on in another role or study of its person, and return them there.

    Raises
    ------
    NotAllowed
        The sign-in has ended, or the role is not the person's.
    """
    person = signed_in(store, token, now=now, place=place)
    if person is None:
        raise NotAllowed(t("Sign in first."))
    if (grant, study) not in {(one.grant, one.study) for one in memberships(store, person)}:
        raise NotAllowed(t("You do not have a role in this study. Ask its coordinator."))
    with store.change() as change:
        people.choose(change, _token_id(token), grant, study)
        row = people.by_sign_in(change, _token_id(token), _span(now))
        if row is None:
            raise NotAllowed(t("Sign in first."))
        there = _person(change, row, _held(change, row.person), token, place)
        if there.study != person.study:
            _record_arrival(change, there, now)
    return there


def sign_out(store: Store, token: str, *, now: datetime, place: str = "") -> None:
    """End a sign-in, in every tab and copy of its token; record that they left."""
    with store.change() as change:
        row = people.by_sign_in(change, _token_id(token), _span(now))
        if row is not None:
            who = _person(change, row, _held(change, row.person), token, place)
            events.record(
                change, who.study_name, now, kind=EventKind.SIGNED_OUT, detail={}, by=who.by
            )
        people.end_sign_in(change, _token_id(token))


def sign_in_mark(token_id: str, person: int) -> str:
    """Return the mark of a person's sign-in, from the hash its token is stored under."""
    return hashlib.sha256(f"sign-in/{person}/{token_id}".encode()).hexdigest()[:32]


def note_guessing(store: Store, tried: int, *, now: datetime, place: str) -> None:
    """Record in the deployment's trail how many wrong codes have come from one place."""
    with store.change() as change:
        who, detail = By(name="nobody", place=place), {"failures": tried}
        events.record(change, "", now, kind=EventKind.CODES_GUESSED_AT, detail=detail, by=who)


def _count_failure(store: Store, person_id: int, now: datetime, place: str) -> None:
    with store.change() as change:
        if people.count_failure(change, person_id) != GUESSED:
            return
        for row in people.roles_held(change, person_id):
            events.record(
                change,
                row.study_name or "",
                now,
                kind=EventKind.CODE_GUESSED_AT,
                detail={"whose": row.whose, "failures": GUESSED},
                by=By(name="nobody", place=place),
            )


def _refuse_beside(look: Transaction, held: Sequence[GrantRow], beside: Person | None) -> None:
    """Refuse to read where the browser's present person runs a study that is read in."""
    if beside is None:
        return
    runs = [row for row in people.roles_held(look, beside.id) if row.role != Role.READER]
    everywhere = any(row.study is None for row in runs)
    for row in held:
        if row.role == Role.READER and (everywhere or row.study in {one.study for one in runs}):
            raise SignInRefused(
                "runs-it",
                t(
                    "This browser is signed in as someone with another role in {study_name!r}. "
                    "Sign out first; anyone who runs a study cannot read in it.",
                    study_name=row.study_name,
                ),
            )


def _record_arrival(change: Transaction, person: Person, now: datetime) -> None:
    events.record(
        change,
        person.study_name,
        now,
        kind=EventKind.SIGNED_IN,
        detail={"role": str(person.role or person.deployment or ""), "sign_in": person.sign_in},
        by=By(name=person.name, place=person.place),
    )


def _person(
    look: Transaction, row: SignInRow, held: Sequence[GrantRow], token: str, place: str
) -> Person:
    """Return whom a sign-in belongs to, where they are at present."""
    chosen = next((one for one in held if one.id == row.grant_id), None)
    whole = [Role(one.role) for one in held if one.study is None]
    study, study_name = (chosen.study, chosen.study_name) if chosen else (None, None)
    if chosen and study is None and row.study is not None:  # an administrator inside a study
        study_name = studies.name_of(look, row.study)
        study = row.study if study_name else None
    return Person(
        role=Role(chosen.role) if chosen else None,
        study=study,
        study_name=study_name or "",
        reader=chosen.reader if chosen else None,
        name=chosen.whose if chosen else row.handle,
        id=row.person,
        deployment=(min(whole) if whole else None),  # administrator comes before coordinator
        sign_in=sign_in_mark(_token_id(token), row.person),
        place=place,
        several=len(held) > 1 or Role.ADMINISTRATOR in whole,
    )


def _held(look: Transaction, person_id: int) -> list[GrantRow]:
    """Return the roles a person holds; a discarded study has nobody in it."""
    return [row for row in people.roles_held(look, person_id) if not row.discarded_at_utc]


def _membership(row: GrantRow) -> Membership:
    return Membership(
        grant=row.id,
        role=Role(row.role),
        study=row.study,
        study_name=row.study_name or "",
        state=row.state or "",
        reader=row.reader,
    )


def _span(now: datetime) -> people.Span:
    """Return when a sign-in may have been made and used last to stand for somebody now."""
    return {
        "since_utc": stamp(now - STAYS),
        "until_utc": stamp(now + _CLOCKS_APART),
        "active_since_utc": stamp(now - IDLE),
    }


def _token_id(token: str) -> str:
    """Return the hash a token is stored under; the token itself exists in the browser alone."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


_LONGEST_ADDRESS = 200


def place_mark(look: Transaction, address: str) -> str:
    """Return the mark under which the address of a place stands in the trail."""
    return keyed_mark(look, f"place/{address}")[:12]


def remember_place(store: Store, address: str, *, agent: str, now: datetime) -> str:
    """Keep what an address's mark stands for, the first time it is seen; return the mark."""
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
            address=address[:_LONGEST_ADDRESS],
            agent=without_surrogates(agent)[:_LONGEST_ADDRESS],
            first_seen_at_utc=stamp(now),
        )
    return mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A role held, whether it is the present one, and its counts.

    A reader is told their own `n_read` of `n_assigned`; whoever runs the study, `n_readers`. The
    other counts are None.
    """

    membership: Membership
    here: bool
    n_read: int | None = None
    n_assigned: int | None = None
    n_readers: int | None = None


def choices(store: Store, person: Person) -> list[Choice]:
    """Return the studies a person may go on in, with what they may know of each."""
    return [
        _choice(store, person, one) for one in memberships(store, person) if one.study is not None
    ]


def _choice(store: Store, person: Person, membership: Membership) -> Choice:
    here = (membership.study, membership.role) == (person.study, person.role)
    if membership.study is None or membership.role is Role.STATISTICIAN:
        return Choice(membership=membership, here=here)
    with store.look() as look:
        if membership.reader is None:
            n_readers = len(people.readers(look, membership.study))
            return Choice(membership=membership, here=here, n_readers=n_readers)
        counts = readings.counts(look, membership.reader)
    return Choice(
        membership=membership, here=here, n_read=counts.n_read, n_assigned=counts.n_assigned
    )
