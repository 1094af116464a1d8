"""Compares what belongs to a whole deployment with what its trails vouch for.

Not vouched for, because it may change at any time or be erased: names and e-mail addresses, access
codes (a new one is told of, not which), drafts, tickets, the schedule of backups, and what was
ended: a sign-in, an account elsewhere.
"""

from collections.abc import Iterator

from study.base.canonical import sha256_of
from study.people import signing_in, single_sign_on
from study.store import Transaction, deployment, events, names, people, reviews, studies
from study.store import backups as stored_backups
from study.store.events import EventKind
from study.trail import deposits


def itself(look: Transaction) -> Iterator[str]:
    """Yield where the deployment's id or its secret is not what the trail says."""
    made = events.of_kind(look, events.DEPLOYMENT, EventKind.DEPLOYMENT_MADE)
    if len(made) != 1:
        yield f"the deployment: {len(made)} events tell of its making."
        return
    if made[0]["deployment_id"] != deployment.value(look, "deployment_id"):
        yield "the deployment: its id was altered."
    secret = sha256_of(deployment.value(look, "secret"))
    if made[0].get("secret_sha256", secret) != secret:
        yield "the deployment: its secret was exchanged."
    yield from deposits.breaches(look)


def sign_ins(look: Transaction) -> Iterator[str]:
    """Yield every sign-in that is in force, account elsewhere and place that no event tells of."""
    trails = [events.DEPLOYMENT, *(events.study_chain(name) for name in studies.names(look))]
    arrived = [one for chain in trails for one in events.of_kind(look, chain, EventKind.SIGNED_IN)]
    marks = {one.get("sign_in") for one in arrived}
    for row in people.sign_ins(look):
        if signing_in.sign_in_mark(row.id, row.person) not in marks:
            yield f"the deployment: a sign-in of {row.handle} of {row.at_utc} was slipped in."
    bound = [
        one for chain in trails for one in events.of_kind(look, chain, EventKind.IDENTITY_BOUND)
    ]
    accounts = {one.get("account") for one in bound}
    for one in names.identities(look):
        if single_sign_on.account_mark(look, one.issuer, one.subject) not in accounts:
            yield f"the deployment: an account of {one.handle} elsewhere was slipped in."
    for mark, address in people.places(look).items():
        if len(address) < _LONGEST and signing_in.place_mark(look, address) != mark:
            yield f"the deployment: the address of the place {mark} was altered."


_LONGEST = 200
"""Addresses are kept up to here; a longer one cannot be compared with its mark."""


def backups_made(look: Transaction) -> Iterator[str]:
    """Yield every backup that the trail does not tell of, or tells otherwise."""
    told = events.of_kind(look, events.DEPLOYMENT, EventKind.BACKUP_MADE)
    made = [tuple(one[key] for key in ("file", "n_bytes", "sha256", "finding")) for one in told]
    removed = {
        one["file"] for one in events.of_kind(look, events.DEPLOYMENT, EventKind.BACKUP_REMOVED)
    }
    for row in stored_backups.every(look):
        if (row.file, row.n_bytes, row.sha256, row.finding) not in made:
            yield f"the backup {row.file}: it was slipped in or altered."
        if bool(row.removed_at_utc) != (row.file in removed):
            yield f"the backup {row.file}: whether it was removed was altered."


def expert_reviews(look: Transaction) -> Iterator[str]:
    """Yield every review that the trail does not tell of, or whose verdicts it tells otherwise."""
    opened = events.of_kind(look, events.DEPLOYMENT, EventKind.REVIEW_OPENED)
    closed = events.of_kind(look, events.DEPLOYMENT, EventKind.REVIEW_CLOSED)
    told = {(one["bank"], one["review"], one["verdicts_sha256"]) for one in closed}
    begun = {(one["bank"], one["review"], one["n"]) for one in opened}
    for row in reviews.every(look):
        if (row.bank_name, row.name, len(reviews.items(look, row.id))) not in begun:
            yield f"the review {row.name} of bank {row.bank_name}: it was slipped in or altered."
        found = sha256_of(reviews.every_verdict(look, row.id))
        if row.ended_at_utc and (row.bank_name, row.name, found) not in told:
            yield f"the review {row.name} of bank {row.bank_name}: its verdicts were altered."
