"""What somebody may go on in: their studies, each with its state and what there is to tell."""

from dataclasses import dataclass

from study.people.roles import Role
from study.people.signing_in import Membership, Person, memberships
from study.store import Store, people, readings


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
