"""People in a study: roles, access codes, and names, which are stored separately."""

import json
import sqlite3
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count
from unittest.mock import Mock

import pytest

from study.base.actor import Acting, By
from study.base.errors import BadFile, BadInput, Busy, NotAllowed, NotNow
from study.exchange.bundle import bundle_files
from study.lifecycle import studies
from study.lifecycle.deployments import administrator_code, coordinator_code, reader_code
from study.people import codes, persons, signing_in
from study.people.invitations import Invitation, parse_invitations
from study.people.persons import CodeState, Member, Newcomer
from study.people.roles import (
    DEPLOYMENT_PERMISSIONS,
    DEPLOYMENT_ROLE_GRANTERS,
    STUDY_PERMISSIONS,
    STUDY_ROLE_GRANTERS,
    TITLES,
    Role,
)
from study.people.signing_in import SignInRefused
from study.store import Store
from study.trail.verification import verify
from tests.conftest import NOW, entropy_from, tamper

CARLA = By(name="carla", role="coordinator", place="here")
ACTING = Acting(by=CARLA, now=NOW)
ADA = By(name="ada", role="administrator", place="here", everywhere=True)
_seeds = count(1000)


@pytest.fixture
def trial(opened: Callable[..., Store]) -> Store:
    """Return an open study with the reader R1 and the coordinator c."""
    store = opened(readers=("R1",))
    coordinator_code(store, study="trial", name="c", entropy=entropy_from(3), now=NOW)
    return store


def _code(expires: datetime | None = None) -> codes.Code:
    return codes.new_code(entropy_from(next(_seeds)), expires)


def _grant(
    store: Store,
    handle: str,
    role: Role,
    *,
    study: str = "trial",
    email: str = "",
    expires: datetime | None = None,
    by: By = CARLA,
) -> codes.Code:
    code = _code(expires)
    newcomer = Newcomer(handle=handle, role=role, email=email)
    persons.grant_role(store, newcomer, study=study, code=code, acting=Acting(by=by, now=NOW))
    return code


def _invite(store: Store, reader_id: str, **more: str) -> tuple[codes.Code, tuple[str, ...]]:
    code = _code()
    known = studies.invite(
        store,
        study="trial",
        invitations=[Invitation(reader_id=reader_id, **more)],
        codes=[code],
        acting=ACTING,
    )
    return code, known


def _sign_in(store: Store, code: codes.Code, **more: object) -> signing_in.SignedIn:
    source = entropy_from(next(_seeds))
    return signing_in.sign_in(store, code.text, entropy=source, **{"now": NOW, **more})  # type: ignore[arg-type]


def _member(store: Store, reader_id: str, study: str = "trial") -> Member:
    members = (
        persons.members_of_study(store, study, now=NOW)
        if study
        else persons.members_of_deployment(store, now=NOW)
    )
    (member,) = [member for member in members if member.who == reader_id]
    return member


def _arguments(store: Store, reader_id: str) -> dict[str, object]:
    return {
        "study": "trial",
        "grant": _member(store, reader_id).grant,
        "acting": Acting(by=CARLA, now=NOW),
    }


def test_every_role_has_a_title_and_can_be_granted(trial: Store) -> None:
    """A role with permissions has a title, and the permissions and the store let staff grant it."""
    assert set(TITLES) == set(Role)
    assert set(STUDY_ROLE_GRANTERS) == set(STUDY_PERMISSIONS)
    assert set(DEPLOYMENT_ROLE_GRANTERS) == set(DEPLOYMENT_PERMISSIONS)
    for study, roles in (("trial", STUDY_ROLE_GRANTERS), ("", DEPLOYMENT_ROLE_GRANTERS)):
        for role in set(roles) - {Role.READER}:
            newcomer = Newcomer(handle=f"{role} {study}".strip(), role=role)
            acting = Acting(by=ADA, now=NOW)
            persons.grant_role(trial, newcomer, study=study, code=_code(), acting=acting)


def test_the_trail_records_who_granted_a_role(trial: Store) -> None:
    """The event has the coordinator's name, role and address. The new statistician can sign in."""
    person = _sign_in(trial, _grant(trial, "stan", Role.STATISTICIAN)).person
    assert (person.role, person.study_name, person.name) == ("statistician", "trial", "stan")
    with trial.look() as look:
        event = look.row("SELECT * FROM events WHERE kind = 'role given'")
    assert event is not None
    assert event["actor"] == "carla"
    assert json.loads(event["detail"]) == {
        "whose": "stan",
        "new": "statistician",
        "role": "coordinator",
        "place": "here",
    }
    assert verify(trial) == []


def test_a_revoked_role_ends_at_once_and_can_be_restored(trial: Store) -> None:
    """The sign-in and the code end in the same transaction.

    The restored reader is the same person.
    """
    code, _ = _invite(trial, "R2")
    token = _sign_in(trial, code).token
    grant = _member(trial, "R2").grant
    persons.revoke_role(trial, study="trial", grant=grant, reason="left", acting=ACTING)
    assert signing_in.signed_in_person(trial, token, now=NOW) is None
    with pytest.raises(SignInRefused) as refused:
        _sign_in(trial, code)
    assert refused.value.why == "unknown"
    assert _member(trial, "R2").code is CodeState.REVOKED
    new = _code()
    persons.restore_role(trial, code=new, **_arguments(trial, "R2"))  # type: ignore[arg-type]
    assert _sign_in(trial, new).person.name == "R2"
    with pytest.raises(NotNow, match="already been restored"):
        persons.restore_role(
            trial,
            code=_code(),
            **{**_arguments(trial, "R2"), "grant": grant},  # type: ignore[arg-type]
        )
    assert verify(trial) == []


def test_a_revoked_reader_gets_no_code_on_the_command_line(trial: Store) -> None:
    """The code would not give access; the message states the reason."""
    grant = _member(trial, "R1").grant
    persons.revoke_role(trial, study="trial", grant=grant, reason="left", acting=ACTING)
    with pytest.raises(NotNow, match="revoked"):
        reader_code(trial, study="trial", reader_id="R1", entropy=entropy_from(5), now=NOW)


def test_a_revocation_needs_a_reason_and_a_current_role(trial: Store) -> None:
    """A blank reason and a second revocation are refused."""
    grant = _member(trial, "R1").grant
    with pytest.raises(BadInput, match="Give a reason"):
        persons.revoke_role(trial, study="trial", grant=grant, reason="  ", acting=ACTING)
    persons.revoke_role(trial, study="trial", grant=grant, reason="left", acting=ACTING)
    with pytest.raises(NotNow, match="already"):
        persons.revoke_role(trial, study="trial", grant=grant, reason="left", acting=ACTING)


def test_the_last_administrator_cannot_be_revoked(trial: Store) -> None:
    """A deployment always has an administrator."""
    administrator_code(trial, name="admin", entropy=entropy_from(9), now=NOW)
    grant = _member(trial, "admin", "").grant
    with pytest.raises(NotNow, match="only administrator"):
        persons.revoke_role(trial, study="", grant=grant, reason="x", acting=ACTING)
    _grant(trial, "second", Role.ADMINISTRATOR, study="", by=ADA)
    persons.revoke_role(trial, study="", grant=grant, reason="x", acting=ACTING)
    assert verify(trial) == []


def test_the_roster_shows_the_state_of_each_code(trial: Store) -> None:
    """A code is unused, used, expired, or was guessed at."""
    code = _grant(trial, "stan", Role.STATISTICIAN, expires=NOW + timedelta(days=30))
    assert _member(trial, "stan").code is CodeState.NEVER_USED
    _sign_in(trial, code)
    assert _member(trial, "stan").code is CodeState.USED
    later = {
        member.who: member
        for member in persons.members_of_study(trial, "trial", now=NOW + timedelta(days=31))
    }
    assert later["stan"].code is CodeState.EXPIRED
    wrong = codes.Code(text=code.text[:-1] + "#", lookup="", salt="", code_hash="")
    for _ in range(3 * codes.REPORTED_FAILURES):
        with pytest.raises(SignInRefused):
            _sign_in(trial, wrong)
    assert _member(trial, "stan").code is CodeState.GUESSED
    with trial.look() as look:
        rows = look.rows("SELECT detail FROM events WHERE kind = 'code guessed at'")
    assert [json.loads(row["detail"])["whose"] for row in rows] == ["stan"]
    assert _sign_in(trial, code).person.name == "stan"
    assert _member(trial, "stan").code is CodeState.USED
    new = _code()
    acting = Acting(by=CARLA, now=NOW + timedelta(seconds=1))
    values = {**_arguments(trial, "stan"), "acting": acting}
    persons.replace_code(trial, code=new, **values)  # type: ignore[arg-type]
    assert _member(trial, "stan").code is CodeState.NEVER_USED


def test_each_refusal_has_a_specific_reason(trial: Store) -> None:
    """The sign-in page chooses the message by the reason."""
    code = _grant(trial, "stan", Role.STATISTICIAN, expires=NOW)
    assert _refusal_reason(trial, code) == "expired"
    wrong = codes.Code(text=code.text[:-1] + "#", lookup="", salt="", code_hash="")
    assert _refusal_reason(trial, wrong) == "unknown"
    other = _grant(trial, "sue", Role.STATISTICIAN)
    tamper(trial, "UPDATE grants SET revoked_at_utc = 'x' WHERE role = 'statistician'")
    assert _refusal_reason(trial, other) == "no-part"


def _refusal_reason(store: Store, code: codes.Code, **more: object) -> str:
    with pytest.raises(SignInRefused) as refused:
        _sign_in(store, code, **more)
    return refused.value.why


def test_people_who_run_a_study_cannot_read_in_it(trial: Store) -> None:
    """The rule also applies by address, in reverse order, and after a revocation."""
    _grant(trial, "stan", Role.STATISTICIAN, email="stan@example.org")
    with pytest.raises(NotAllowed, match="cannot read in it"):
        _invite(trial, "R2", email="Stan@Example.org")
    grant = _member(trial, "stan").grant
    persons.revoke_role(trial, study="trial", grant=grant, reason="x", acting=ACTING)
    with pytest.raises(NotAllowed, match="cannot read in it"):
        _invite(trial, "R2", email="stan@example.org")
    _invite(trial, "R3", email="rita@example.org")
    for study, by in (("trial", CARLA), ("", ADA)):
        with pytest.raises(NotAllowed, match="cannot have another role"):
            _grant(trial, "rita", Role.COORDINATOR, study=study, by=by, email="rita@example.org")


def test_a_reader_cannot_sign_in_where_staff_of_the_study_are_signed_in(trial: Store) -> None:
    """The staff member must sign out first; readers of another study can sign in."""
    code, _ = _invite(trial, "R2")
    stan = _sign_in(trial, _grant(trial, "stan", Role.STATISTICIAN)).person
    assert _refusal_reason(trial, code, browser=signing_in.Browser(current=stan)) == "runs-it"
    text = administrator_code(trial, name="admin", entropy=entropy_from(9), now=NOW)
    admin = signing_in.sign_in(trial, text, entropy=entropy_from(10), now=NOW).person
    assert _refusal_reason(trial, code, browser=signing_in.Browser(current=admin)) == "runs-it"
    reader = _sign_in(trial, code).person
    assert _sign_in(trial, code, browser=signing_in.Browser(current=reader)).person.name == "R2"


def test_only_administrators_can_give_codes_to_people_with_roles_elsewhere(trial: Store) -> None:
    """A code gives access to all roles of its person."""
    _grant(trial, "adam", Role.ADMINISTRATOR, study="", by=ADA, email="adam@example.org")
    with pytest.raises(NotAllowed, match="outside this study"):
        _grant(trial, "adam", Role.STATISTICIAN, email="adam@example.org")
    _grant(trial, "adam", Role.STATISTICIAN, by=ADA)
    assert _member(trial, "adam").elsewhere
    for act in (persons.replace_code, persons.restore_role):
        with pytest.raises(NotAllowed, match="outside this study"):
            act(trial, code=_code(), **_arguments(trial, "adam"))  # type: ignore[arg-type]
    with pytest.raises(NotAllowed, match="outside this study"):
        persons.erase_name(trial, **_arguments(trial, "adam"))  # type: ignore[arg-type]


def test_short_names_and_roles_are_unique(trial: Store) -> None:
    """A reader's study code, another person's short name and a role already held are refused."""
    for taken in ("R1", "c"):
        with pytest.raises(NotNow, match="short name"):
            _grant(trial, taken, Role.STATISTICIAN)
    _grant(trial, "stan", Role.STATISTICIAN, email="stan@example.org")
    with pytest.raises(NotNow, match="already"):
        _grant(trial, "stan", Role.STATISTICIAN, email="stan@example.org")
    with pytest.raises(BadInput, match="not a valid email address"):
        _grant(trial, "sue", Role.STATISTICIAN, email="sue at home")


def test_a_reader_is_not_invited_twice_under_one_address(trial: Store) -> None:
    """The message names the code under which the person already reads."""
    _, known = _invite(trial, "R2", email="rita@example.org")
    assert known == ()
    with pytest.raises(NotNow, match="as R2"):
        _invite(trial, "R3", email="rita@example.org")


@pytest.mark.sqlite("reads the bytes of the file")
def test_a_name_is_stored_in_one_table_and_can_be_erased(trial: Store) -> None:
    """Events and exports do not contain the name.

    An erased name is not in any file of the store.
    """
    words = ("Ottoline Leyser-Quist", "ottoline@example.org")
    _invite(trial, "R2", name=words[0], email=words[1])
    with trial.kept_open():
        everything = b"".join(bundle_files(trial, "trial").values())
        with trial.look() as look:
            events = str(look.rows("SELECT * FROM events"))
        for word in words:
            assert word.encode() in _bytes(trial)
            assert word.encode() not in everything
            assert word not in events
        assert _member(trial, "R2").name == words[0]
        assert persons.erase_name(trial, **_arguments(trial, "R2"))  # type: ignore[arg-type]
        for word in words:
            assert word.encode() not in _bytes(trial)
    assert (_member(trial, "R2").name, _member(trial, "R2").email) == ("", "")
    assert verify(trial) == []
    with pytest.raises(NotNow, match="No name is recorded"):
        persons.erase_name(trial, **_arguments(trial, "R2"))  # type: ignore[arg-type]


def test_a_name_is_erased_although_the_journal_cannot_be_emptied(
    trial: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The erasure is complete, and the journal is emptied later."""
    _invite(trial, "R2", name="Ottoline Leyser-Quist")
    monkeypatch.setattr(Store, "checkpoint", Mock(side_effect=Busy("The database is busy.")))
    assert persons.erase_name(trial, **_arguments(trial, "R2")) is False  # type: ignore[arg-type]
    assert _member(trial, "R2").name == ""


def _bytes(store: Store) -> bytes:
    files = store.path.parent.glob(store.path.name + "*")
    return b"".join(file.read_bytes() for file in files if file.is_file())


def test_a_name_can_be_changed_and_an_address_belongs_to_one_person(trial: Store) -> None:
    """The audit trail records the change without the name."""
    _invite(trial, "R2", email="rita@example.org")
    persons.change_name(trial, name="Rita", email="r@example.org", **_arguments(trial, "R2"))  # type: ignore[arg-type]
    assert (_member(trial, "R2").name, _member(trial, "R2").email) == ("Rita", "r@example.org")
    with pytest.raises(NotNow, match="someone else"):
        persons.change_name(trial, name="", email="R@example.org", **_arguments(trial, "R1"))  # type: ignore[arg-type]
    with trial.look() as look:
        assert "Rita" not in str(look.rows("SELECT * FROM events"))


def test_a_pasted_list_may_contain_names_and_addresses(trial: Store) -> None:
    """The text has the form in which a spreadsheet program copies cells."""
    invitations = parse_invitations(
        "reader_id\tlevel\tname\temail\nR8\tresident\tAda\ta@b.org\n", source="The list"
    )
    assert [
        (invitation.reader_id, invitation.name, invitation.email) for invitation in invitations
    ] == [("R8", "Ada", "a@b.org")]
    assert "Ada" not in repr(invitations)
    with pytest.raises(BadFile, match="line 2: reader_id is empty"):
        parse_invitations("reader_id,name\n,Ada\n", source="The list")


ALTERED_ROLES = [
    ("UPDATE grants SET role = 'administrator' WHERE role = 'statistician'", "inserted"),
    (
        "INSERT INTO grants (person, role, study, given_at_utc) "
        "SELECT person, 'coordinator', study, given_at_utc FROM grants WHERE role = 'statistician'",
        "the role coordinator of stan was inserted",
    ),
    ("DELETE FROM grants WHERE role = 'statistician'", "the role statistician of stan is missing"),
    ("DELETE FROM grants WHERE role = 'reader'", "the role reader of R1 is missing"),
    ("UPDATE grants SET revoked_at_utc = 'x' WHERE role = 'reader'", "the revocation of"),
    ("UPDATE grants SET revoked_at_utc = NULL WHERE role = 'statistician'", "the revocation of"),
    ("UPDATE grants SET given_at_utc = 'x' WHERE role = 'coordinator'", "inserted"),
    ("UPDATE people SET handle = 'other' WHERE handle = 'stan'", "of other was inserted"),
    ("UPDATE grants SET study = NULL WHERE role = 'coordinator'", "the deployment: the role"),
]


@pytest.mark.parametrize(
    ("statement", "message"), ALTERED_ROLES, ids=[case[0] for case in ALTERED_ROLES]
)
def test_verification_reports_a_role_altered_in_the_file(
    trial: Store, statement: str, message: str
) -> None:
    """Roles added, removed, revoked or restored are reported without names of people."""
    _grant(trial, "stan", Role.STATISTICIAN, email="stan@example.org")
    grant = _member(trial, "stan").grant
    persons.revoke_role(trial, study="trial", grant=grant, reason="x", acting=ACTING)
    assert verify(trial) == []
    tamper(trial, statement)
    breaches = verify(trial)
    assert any(message in breach for breach in breaches), breaches
    assert "example.org" not in str(breaches)


@pytest.mark.sqlite("opens the file itself")
def test_the_database_refuses_a_reader_who_runs_the_study(trial: Store) -> None:
    """A constraint applies to programs outside this project as well."""
    connection = sqlite3.connect(trial.path)
    with pytest.raises(sqlite3.IntegrityError, match="cannot run it"):
        connection.execute(
            "INSERT INTO grants (person, role, study, given_at_utc) "
            "SELECT person, 'coordinator', study, 'x' FROM grants WHERE role = 'reader'"
        )
    connection.close()


def test_an_error_of_the_header_is_reported_once() -> None:
    """A missing column in 10,000 lines is one error."""
    text = "id,level\n" + "".join(f"R{n},resident\n" for n in range(10_000))
    with pytest.raises(BadFile) as excinfo:
        parse_invitations(text, source="readers.csv")
    assert str(excinfo.value).splitlines() == [
        "readers.csv: 2 errors; no one was invited.",
        "  header: unknown column “id”. Known: reader_id, level, years, site, name, email.",
        "  header: the column reader_id is missing. Add it.",
    ]
