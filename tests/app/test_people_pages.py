"""The pages for people and studies in Streamlit's test runner."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from study.base.canonical import stamp
from study.base.errors import BadInput
from study.lifecycle.deployments import administrator_code, coordinator_code
from study.people import signing_in
from study.people.roles import Role
from study.people.signing_in import Person
from study.store import Store, people, studies
from tests.conftest import NOW, ROOT, entropy_from, person
from tests.page_runs import open_page
from ui.app.menu import home_of, pages_of
from ui.people.members import _invitations
from ui.server.access import refusal_text
from ui.server.new_codes import Card

Opened = Callable[..., Store]


@pytest.fixture
def deployed(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return the store of an open study, set in the environment."""
    store = opened(readers=("R1",))
    monkeypatch.setenv("READING_ROOM_DB", str(store.path))
    return store


def _coordinator(store: Store) -> Person:
    code = coordinator_code(store, study="trial", name="c", entropy=entropy_from(3), now=NOW)
    return signing_in.sign_in(store, code, entropy=entropy_from(4), now=NOW).person


def _administrator(store: Store) -> Person:
    code = administrator_code(store, name="admin", entropy=entropy_from(5), now=NOW)
    return signing_in.sign_in(store, code, entropy=entropy_from(6), now=NOW).person


def _page(name: str, who: Person, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": who)
    return open_page(name)


def _button(app: AppTest, label: str) -> None:
    next(element for element in app.button if element.label == label).click().run()


def _cards(app: AppTest, study: str = "trial") -> tuple[Card, ...]:
    return tuple(app.session_state["new-codes"].cards.get(study, ()))


def test_a_coordinator_can_invite_a_reader_and_hide_the_code(
    deployed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code stays on the sheet until it is hidden."""
    app = _page("people.py", _coordinator(deployed), monkeypatch)
    assert not app.exception
    app.text_input(key="reader-id-0").set_value("R2")
    app.text_input(key="reader-name-0").set_value("Ada")
    _button(app, "Invite")
    assert not app.exception
    (card,) = _cards(app)
    assert card.who == "R2"
    signed_in = signing_in.sign_in(deployed, card.code, entropy=entropy_from(7), now=NOW)
    assert signed_in.person.name == "R2"
    assert any("R2" in element.value for element in app.markdown)
    _button(app, "Hide the codes")
    assert not _cards(app)


def test_an_error_keeps_the_entered_text(deployed: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader who exists already is refused."""
    app = _page("people.py", _coordinator(deployed), monkeypatch)
    app.text_input(key="reader-id-0").set_value("R1")
    _button(app, "Invite")
    assert "already invited\\. Enter another ID" in app.error[0].value
    assert app.text_input(key="reader-id-0").value == "R1"
    assert not _cards(app)


def test_revoking_requires_a_reason_and_offers_permitted_roles(
    deployed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A coordinator cannot make other coordinators."""
    app = _page("people.py", _coordinator(deployed), monkeypatch)
    assert [element.options for element in app.selectbox if element.label == "Role"] == [
        ["statistician"]
    ]
    _button(app, "Revoke now")
    assert "Give a reason" in app.error[0].value
    next(element for element in app.text_input if element.label == "Reason").set_value(
        "left the hospital"
    )
    _button(app, "Revoke now")
    assert not app.exception
    assert any("revoked" in element.value for element in app.markdown)


def test_only_an_administrator_can_release_an_account(
    deployed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The provider is named, a reason is required, and the account is removed."""
    coordinator, administrator = _coordinator(deployed), _administrator(deployed)
    with deployed.change() as change:
        (reader,) = people.readers(change, studies.study_row(change, "trial").id)
        account = people.person_of_reader(change, reader.id)
        people.bind_identity(
            change, issuer="https://id", subject="7", person=account, bound_at_utc=stamp(NOW)
        )
    app = _page("people.py", coordinator, monkeypatch)
    assert "Release the sign-in account" not in [element.label for element in app.button]
    assert any("Only an administrator" in element.value for element in app.caption)
    app = _page("people.py", replace(administrator, study=1, study_name="trial"), monkeypatch)
    assert any("Sign-in account: https" in element.value for element in app.caption)
    _button(app, "Release the sign-in account")
    assert "reason" in app.error[0].value
    reason = next(
        element for element in app.text_input if str(element.key).startswith("release-reason")
    )
    reason.set_value("New account.")
    _button(app, "Release the sign-in account")
    assert not app.exception
    with deployed.look() as look:
        assert people.identities(look) == []


def test_an_administrator_sees_all_studies_and_grants_roles(
    deployed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Studies lists readers of the study; Administration makes a coordinator of the server."""
    person = _administrator(deployed)
    app = _page("studies.py", person, monkeypatch)
    assert not app.exception
    assert any("trial" in str(element.proto) for element in app.get("bidi_component"))
    assert any(element.value == "1 reader" for element in app.markdown)
    app = _page("deployment.py", person, monkeypatch)
    app.text_input(key="handle-0").set_value("carla")
    _button(app, "Assign role")
    assert not app.exception
    assert [card.who for card in _cards(app, "")] == ["carla"]


@pytest.mark.parametrize("page", ["people.py", "studies.py"])
def test_signed_out_visitors_see_no_names(deployed: Store, page: str) -> None:
    """The page shows one sentence."""
    ran = open_page(page)
    assert [error.value for error in ran.error] == ["Sign in to see this page."]
    assert not ran.title


def test_the_first_page_depends_on_the_role(deployed: Store) -> None:
    """It is reading, the overview, the results, or a choice of studies."""
    reader = person(deployed)
    several = Person(name="x", several=True)
    statistician = Person(role=Role.STATISTICIAN, study=1, study_name="trial", name="s")
    reviewer = Person(name="e", deployment=Role.REVIEWER)
    staff = (_coordinator(deployed), statistician, several, _administrator(deployed))
    paths = [home_of(person).path for person in (reader, *staff, reviewer, None)]
    assert paths[:4] == ["read", "overview", "results", "studies"]
    assert paths[4:] == ["studies", "reviews", "sign-in-page"]
    assert [person.path for person in pages_of(reader)] == [
        "read",
        "score-card",
        "teaching",
        "teach",
    ]


def test_new_codes_are_added_until_they_are_hidden(
    deployed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They stay after other actions; a newer code of a person replaces the previous one."""
    app = _page("people.py", _coordinator(deployed), monkeypatch)
    for turn, reader_id in enumerate(("R2", "R3")):
        app.text_input(key=f"reader-id-{turn}").set_value(reader_id)
        _button(app, "Invite")
    first = {card.who: card.code for card in _cards(app)}
    assert list(first) == ["R2", "R3"]
    app.text_input(key="reader-id-2").set_value("R1")
    _button(app, "Invite")
    assert "already invited" in app.error[0].value
    assert [card.who for card in _cards(app)] == ["R2", "R3"]
    for button in [element for element in app.button if element.label == "New code"][
        1:2
    ]:  # code of R2
        button.click().run()
    assert not app.exception
    second = {card.who: card.code for card in _cards(app)}
    assert list(second) == ["R3", "R2"]
    assert second["R3"] == first["R3"]
    assert second["R2"] != first["R2"]
    for n, card in enumerate(_cards(app)):
        signing_in.sign_in(deployed, card.code, entropy=entropy_from(90 + n), now=NOW)
    second_page = _page("people.py", _coordinator(deployed), monkeypatch)
    second_page.session_state["new-codes"] = app.session_state["new-codes"]
    second_page.run()
    assert any("new access codes" in element.value for element in second_page.success)


def test_reviewers_get_new_codes_on_the_page_of_their_review(
    deployed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Administrators can issue them there and in Administration."""
    administrator = _administrator(deployed)
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": administrator)
    ran = open_page("bank_review.py", bank="1")
    ran.text_input(key="handle-0").set_value("vera")
    _button(ran, "Assign role")
    assert not ran.exception
    (card,) = _cards(ran, "")
    _button(ran, "New code")
    (renewed,) = _cards(ran, "")
    assert (renewed.who, renewed.code != card.code) == ("vera", True)
    app = _page("deployment.py", administrator, monkeypatch)
    assert [element.label for element in app.button].count("New code") >= 2


def test_a_pasted_list_together_with_a_file_is_refused(deployed: Store) -> None:
    """Otherwise one of them would silently be ignored."""

    class File:
        name = "readers.csv"

    with pytest.raises(BadInput, match="remove the file"):
        _invitations("reader_id\nR8", File())  # type: ignore[arg-type]
    assert [reader.reader_id for reader in _invitations("reader_id\nR8", None)] == ["R8"]
    with pytest.raises(BadInput, match="Paste a list or choose a file"):
        _invitations(" ", None)


def test_an_invalid_setting_of_single_sign_on_is_named_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The page states whom to contact, and shows no setting."""
    page = AppTest.from_file(str(ROOT / "pages" / "sign_in.py"), default_timeout=60)
    page.secrets["auth"] = {"hospital": {"server_metadata_url": "https://login.example.org"}}
    app = page.run()
    _button(app, "Sign in with hospital")
    assert not app.exception
    assert [error.value for error in app.error] == [refusal_text("settings")]
    assert "secrets.toml: " in caplog.text
