"""People in a study: roles given and revoked, codes replaced, names kept apart and erased."""

import json
import sqlite3
from collections.abc import Callable
from datetime import timedelta
from itertools import count

import pytest

from study.base.actor import By
from study.base.errors import BadFile, BadInput, NotAllowed, NotNow
from study.exchange.bundle import bundle_files
from study.lifecycle import studies
from study.lifecycle.deployments import administrator_code, coordinator_code, reader_code
from study.people import codes, persons, signing_in
from study.people.invitations import Invitation, parse_invitations
from study.people.persons import CodeState, Member, Newcomer
from study.people.roles import Role
from study.people.signing_in import SignInRefused
from study.store import Store
from study.trail.verification import verify
from tests.conftest import NOW, entropy_from, tamper

CARLA = By(name="carla", role="coordinator", place="here")
_seeds = count(1000)


@pytest.fixture
def trial(opened: Callable[..., Store]) -> Store:
    """Return an open study with the reader R1 and the coordinator c."""
    store = opened(readers=("R1",))
    coordinator_code(store, study="trial", name="c", entropy=entropy_from(3), now=NOW)
    return store


def _code() -> codes.Code:
    return codes.new_code(entropy_from(next(_seeds)))


def _give(store: Store, handle: str, role: Role, **more: object) -> codes.Code:
    code = _code()
    asked: dict[str, object] = {"study": "trial", "everywhere": False, "expires": None}
    email = str(more.pop("email", ""))
    persons.give_role(
        store,
        Newcomer(handle=handle, role=role, email=email),
        code=code,
        by=CARLA,
        now=NOW,
        **{**asked, **more},  # type: ignore[arg-type]
    )
    return code


def _invite(store: Store, reader_id: str, **more: str) -> tuple[codes.Code, tuple[str, ...]]:
    code = _code()
    known = studies.invite(
        store,
        study="trial",
        invitations=[Invitation(reader_id=reader_id, **more)],
        codes=[code],
        by=CARLA,
        now=NOW,
    )
    return code, known


def _enter(store: Store, code: codes.Code, **more: object) -> signing_in.SignedIn:
    source = entropy_from(next(_seeds))
    return signing_in.sign_in(store, code.text, entropy=source, **{"now": NOW, **more})  # type: ignore[arg-type]


def _member(store: Store, who: str, study: str = "trial") -> Member:
    found = (
        persons.members_of_study(store, study, now=NOW)
        if study
        else persons.members_of_deployment(store, now=NOW)
    )
    (one,) = [member for member in found if member.who == who]
    return one


def _about(store: Store, who: str) -> dict[str, object]:
    return {
        "study": "trial",
        "grant": _member(store, who).grant,
        "everywhere": False,
        "by": CARLA,
        "now": NOW,
    }


def test_a_role_is_given_and_told_by_whom(trial: Store) -> None:
    """The statistician signs in; the trail says who gave the role, in which role, from where."""
    person = _enter(trial, _give(trial, "stan", Role.STATISTICIAN)).person
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


def test_a_revoked_role_ends_at_once_and_can_be_given_back(trial: Store) -> None:
    """Sign-in and code are gone within the same act; given back it is the same reader."""
    code, _ = _invite(trial, "R2")
    token = _enter(trial, code).token
    grant = _member(trial, "R2").grant
    persons.revoke(trial, study="trial", grant=grant, reason="left", by=CARLA, now=NOW)
    assert signing_in.signed_in(trial, token, now=NOW) is None
    with pytest.raises(SignInRefused) as refused:
        _enter(trial, code)
    assert refused.value.why == "unknown"
    assert _member(trial, "R2").code is CodeState.REVOKED
    new = _code()
    persons.give_back(trial, code=new, expires=None, **_about(trial, "R2"))  # type: ignore[arg-type]
    assert _enter(trial, new).person.name == "R2"
    with pytest.raises(NotNow, match="already been restored"):
        persons.give_back(
            trial,
            code=_code(),
            expires=None,
            **{**_about(trial, "R2"), "grant": grant},  # type: ignore[arg-type]
        )
    assert verify(trial) == []


def test_a_revoked_reader_gets_no_code_on_the_command_line(trial: Store) -> None:
    """The code would open nothing; the refusal says why."""
    grant = _member(trial, "R1").grant
    persons.revoke(trial, study="trial", grant=grant, reason="left", by=CARLA, now=NOW)
    with pytest.raises(NotNow, match="revoked"):
        reader_code(trial, study="trial", reader_id="R1", entropy=entropy_from(5), now=NOW)


def test_a_revocation_needs_a_reason_and_a_standing_role(trial: Store) -> None:
    """Neither a blank reason nor a second revocation is taken."""
    grant = _member(trial, "R1").grant
    with pytest.raises(BadInput, match="Give a reason"):
        persons.revoke(trial, study="trial", grant=grant, reason="  ", by=CARLA, now=NOW)
    persons.revoke(trial, study="trial", grant=grant, reason="left", by=CARLA, now=NOW)
    with pytest.raises(NotNow, match="already"):
        persons.revoke(trial, study="trial", grant=grant, reason="left", by=CARLA, now=NOW)


def test_the_last_administrator_stays(trial: Store) -> None:
    """A deployment nobody can look after any more is not made."""
    administrator_code(trial, name="admin", entropy=entropy_from(9), now=NOW)
    grant = _member(trial, "admin", "").grant
    with pytest.raises(NotNow, match="only administrator"):
        persons.revoke(trial, study="", grant=grant, reason="x", by=CARLA, now=NOW)
    _give(trial, "second", Role.ADMINISTRATOR, study="", everywhere=True)
    persons.revoke(trial, study="", grant=grant, reason="x", by=CARLA, now=NOW)
    assert verify(trial) == []


def test_codes_show_how_they_stand(trial: Store) -> None:
    """Never used, used, expired, guessed at: each is seen on the roster."""
    code = _give(trial, "stan", Role.STATISTICIAN, expires=NOW + timedelta(days=30))
    assert _member(trial, "stan").code is CodeState.NEVER_USED
    _enter(trial, code)
    assert _member(trial, "stan").code is CodeState.USED
    later = {
        one.who: one
        for one in persons.members_of_study(trial, "trial", now=NOW + timedelta(days=31))
    }
    assert later["stan"].code is CodeState.EXPIRED
    wrong = codes.Code(text=code.text[:-1] + "#", lookup="", salt="", code_hash="")
    for _ in range(3 * signing_in.GUESSED):
        with pytest.raises(SignInRefused):
            _enter(trial, wrong)
    assert _member(trial, "stan").code is CodeState.GUESSED
    with trial.look() as look:
        told = look.rows("SELECT detail FROM events WHERE kind = 'code guessed at'")
    assert [json.loads(one["detail"])["whose"] for one in told] == ["stan"]
    assert _enter(trial, code).person.name == "stan"
    assert _member(trial, "stan").code is CodeState.USED
    new = _code()
    about = {**_about(trial, "stan"), "now": NOW + timedelta(seconds=1)}
    persons.replace_code(trial, code=new, expires=None, **about)  # type: ignore[arg-type]
    assert _member(trial, "stan").code is CodeState.NEVER_USED


def test_each_refusal_has_its_word(trial: Store) -> None:
    """The sign-in page tells them apart by it."""
    code = _give(trial, "stan", Role.STATISTICIAN, expires=NOW)
    assert _why(trial, code) == "expired"
    wrong = codes.Code(text=code.text[:-1] + "#", lookup="", salt="", code_hash="")
    assert _why(trial, wrong) == "unknown"
    other = _give(trial, "sue", Role.STATISTICIAN)
    tamper(trial, "UPDATE grants SET revoked_at_utc = 'x' WHERE role = 'statistician'")
    assert _why(trial, other) == "no-part"


def _why(store: Store, code: codes.Code, **more: object) -> str:
    with pytest.raises(SignInRefused) as refused:
        _enter(store, code, **more)
    return refused.value.why


def test_nobody_reads_in_a_study_they_run(trial: Store) -> None:
    """Not by the same address, not the other way round, not after the role was revoked."""
    _give(trial, "stan", Role.STATISTICIAN, email="stan@example.org")
    with pytest.raises(NotAllowed, match="cannot read in it"):
        _invite(trial, "R2", email="Stan@Example.org")
    grant = _member(trial, "stan").grant
    persons.revoke(trial, study="trial", grant=grant, reason="x", by=CARLA, now=NOW)
    with pytest.raises(NotAllowed, match="cannot read in it"):
        _invite(trial, "R2", email="stan@example.org")
    _invite(trial, "R3", email="rita@example.org")
    for study, everywhere in (("trial", False), ("", True)):
        with pytest.raises(NotAllowed, match="cannot have another role"):
            _give(
                trial,
                "rita",
                Role.COORDINATOR,
                study=study,
                everywhere=everywhere,
                email="rita@example.org",
            )


def test_a_browser_of_whoever_runs_the_study_does_not_sign_its_reader_in(trial: Store) -> None:
    """They sign out first; a reader of another study than theirs is let in."""
    code, _ = _invite(trial, "R2")
    stan = _enter(trial, _give(trial, "stan", Role.STATISTICIAN)).person
    assert _why(trial, code, beside=stan) == "runs-it"
    text = administrator_code(trial, name="admin", entropy=entropy_from(9), now=NOW)
    admin = signing_in.sign_in(trial, text, entropy=entropy_from(10), now=NOW).person
    assert _why(trial, code, beside=admin) == "runs-it"
    reader = _enter(trial, code).person
    assert _enter(trial, code, beside=reader).person.name == "R2"


def test_whoever_has_a_part_elsewhere_gets_no_code_from_here(trial: Store) -> None:
    """A code opens every role: only an administrator of the deployment gives such a person one."""
    _give(trial, "adam", Role.ADMINISTRATOR, study="", everywhere=True, email="adam@example.org")
    with pytest.raises(NotAllowed, match="outside this study"):
        _give(trial, "adam", Role.STATISTICIAN, email="adam@example.org")
    _give(trial, "adam", Role.STATISTICIAN, everywhere=True)
    assert _member(trial, "adam").elsewhere
    for act in (persons.replace_code, persons.give_back):
        with pytest.raises(NotAllowed, match="outside this study"):
            act(trial, code=_code(), expires=None, **_about(trial, "adam"))  # type: ignore[arg-type]
    with pytest.raises(NotAllowed, match="outside this study"):
        persons.erase_name(trial, **_about(trial, "adam"))  # type: ignore[arg-type]


def test_handles_and_roles_are_not_given_twice(trial: Store) -> None:
    """Neither a reader's study code nor another's handle; nor the same role again."""
    for taken in ("R1", "c"):
        with pytest.raises(NotNow, match="short name"):
            _give(trial, taken, Role.STATISTICIAN)
    _give(trial, "stan", Role.STATISTICIAN, email="stan@example.org")
    with pytest.raises(NotNow, match="already"):
        _give(trial, "stan", Role.STATISTICIAN, email="stan@example.org")
    with pytest.raises(BadInput, match="not a valid email address"):
        _give(trial, "sue", Role.STATISTICIAN, email="sue at home")


def test_a_reader_known_by_address_keeps_their_code(trial: Store) -> None:
    """In the same study they read already; the refusal names the code they read under."""
    _, known = _invite(trial, "R2", email="rita@example.org")
    assert known == ()
    with pytest.raises(NotNow, match="as R2"):
        _invite(trial, "R3", email="rita@example.org")


def test_a_name_stands_in_its_table_alone_and_is_gone_when_erased(trial: Store) -> None:
    """Not in an event, not in an export; erased, not in the file nor its journal."""
    words = ("Ottoline Leyser-Quist", "ottoline@example.org")
    _invite(trial, "R2", name=words[0], email=words[1])
    with trial.kept_warm():
        everything = b"".join(bundle_files(trial, "trial").values())
        with trial.look() as look:
            told = str(look.rows("SELECT * FROM events"))
        for word in words:
            assert word.encode() in _bytes(trial)
            assert word.encode() not in everything
            assert word not in told
        assert _member(trial, "R2").name == words[0]
        assert persons.erase_name(trial, **_about(trial, "R2"))  # type: ignore[arg-type]
        for word in words:
            assert word.encode() not in _bytes(trial)
    assert (_member(trial, "R2").name, _member(trial, "R2").email) == ("", "")
    assert verify(trial) == []
    with pytest.raises(NotNow, match="No name is recorded"):
        persons.erase_name(trial, **_about(trial, "R2"))  # type: ignore[arg-type]


def _bytes(store: Store) -> bytes:
    files = store.path.parent.glob(store.path.name + "*")
    return b"".join(file.read_bytes() for file in files if file.is_file())


def test_a_name_can_be_changed_and_an_address_is_one_persons(trial: Store) -> None:
    """The trail tells that a name was entered, and not which."""
    _invite(trial, "R2", email="rita@example.org")
    persons.change_name(trial, name="Rita", email="r@example.org", **_about(trial, "R2"))  # type: ignore[arg-type]
    assert (_member(trial, "R2").name, _member(trial, "R2").email) == ("Rita", "r@example.org")
    with pytest.raises(NotNow, match="someone else"):
        persons.change_name(trial, name="", email="R@example.org", **_about(trial, "R1"))  # type: ignore[arg-type]
    with trial.look() as look:
        assert "Rita" not in str(look.rows("SELECT * FROM events"))


def test_a_pasted_list_may_name_people(trial: Store) -> None:
    """As a spreadsheet copies it; faults are listed with their line."""
    found = parse_invitations(
        "reader_id\tlevel\tname\temail\nR8\tresident\tAda\ta@b.org\n", source="The list"
    )
    assert [(one.reader_id, one.name, one.email) for one in found] == [("R8", "Ada", "a@b.org")]
    assert "Ada" not in repr(found)
    with pytest.raises(BadFile, match="line 2: reader_id is empty"):
        parse_invitations("reader_id,name\n,Ada\n", source="The list")


TAMPERED = [
    ("UPDATE grants SET role = 'administrator' WHERE role = 'statistician'", "slipped in"),
    (
        "INSERT INTO grants (person, role, study, given_at_utc) "
        "SELECT person, 'coordinator', study, given_at_utc FROM grants WHERE role = 'statistician'",
        "the role coordinator of stan was slipped in",
    ),
    ("DELETE FROM grants WHERE role = 'statistician'", "the role statistician of stan is missing"),
    ("DELETE FROM grants WHERE role = 'reader'", "the role reader of R1 is missing"),
    ("UPDATE grants SET revoked_at_utc = 'x' WHERE role = 'reader'", "what was revoked of"),
    ("UPDATE grants SET revoked_at_utc = NULL WHERE role = 'statistician'", "what was revoked of"),
    ("UPDATE grants SET given_at_utc = 'x' WHERE role = 'coordinator'", "slipped in"),
    ("UPDATE people SET handle = 'other' WHERE handle = 'stan'", "of other was slipped in"),
    ("UPDATE grants SET study = NULL WHERE role = 'coordinator'", "the deployment: the role"),
]


@pytest.mark.parametrize(("statement", "named"), TAMPERED, ids=[one[0] for one in TAMPERED])
def test_a_role_altered_behind_the_programs_back_is_found(
    trial: Store, statement: str, named: str
) -> None:
    """Slipped in, taken away, revoked or not: named, without anybody's name."""
    _give(trial, "stan", Role.STATISTICIAN, email="stan@example.org")
    grant = _member(trial, "stan").grant
    persons.revoke(trial, study="trial", grant=grant, reason="x", by=CARLA, now=NOW)
    assert verify(trial) == []
    tamper(trial, statement)
    found = verify(trial)
    assert any(named in breach for breach in found), found
    assert "example.org" not in str(found)


def test_the_tables_refuse_what_the_words_refuse(trial: Store) -> None:
    """A program that is not ours cannot let a reader run the study either."""
    connection = sqlite3.connect(trial.path)
    with pytest.raises(sqlite3.IntegrityError, match="cannot run it"):
        connection.execute(
            "INSERT INTO grants (person, role, study, given_at_utc) "
            "SELECT person, 'coordinator', study, 'x' FROM grants WHERE role = 'reader'"
        )
    connection.close()


def test_under_a_wrong_header_only_the_header_is_told() -> None:
    """Ten thousand lines that lack a column are one fault, not ten thousand."""
    text = "id,level\n" + "".join(f"R{n},resident\n" for n in range(10_000))
    with pytest.raises(BadFile) as caught:
        parse_invitations(text, source="readers.csv")
    assert str(caught.value).splitlines() == [
        "readers.csv: 2 errors; no one was invited.",
        "  header: unknown column 'id'. Known: reader_id, level, years, site, name, email.",
        "  header: the column reader_id is missing. Add it.",
    ]
