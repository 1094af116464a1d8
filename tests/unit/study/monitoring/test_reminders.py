"""Reminders: the text of the message, its delivery, and what the audit trail records."""

import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from email import message_from_bytes, policy
from typing import Any

import pytest

from study.base.actor import Acting, By
from study.base.canonical import stamp
from study.base.errors import BadInput, NotFound, NotNow, Undelivered
from study.base.mail import MailServer, send
from study.monitoring import scheduled_reminders
from study.monitoring.progress import Progress, ReaderProgress, progress_of
from study.monitoring.reminders import (
    Letter,
    compose_reminder,
    find_addressee,
    last_reminder_times,
    may_be_reminded,
    record_sent,
    send_reminder,
)
from study.monitoring.scheduled_reminders import (
    reminder_schedule,
    schedule_reminders,
    send_due_reminders,
)
from study.reading import desk
from study.store import Store, deployment, events
from study.trail.verification import verify
from tests.conftest import NOW, person, presentation, reading, tamper

Opened = Callable[..., Store]
BY = By(name="c", role="coordinator")
ACTING = Acting(by=BY, now=NOW)
LETTER = Letter(subject="Your cases", text="Dear R1,\n\nÜber 3 cases are left.")


class _MailConversation(socketserver.StreamRequestHandler):
    """A conversation with the mail server of these tests."""

    server: "_MailServer"

    def handle(self) -> None:
        """Answer each command and keep the message."""
        self._reply("220 here")
        while line := self.rfile.readline():
            verb = line.split()[0].upper().decode() if line.split() else ""
            if verb == "DATA":
                self._reply("354 continue")
                self._keep()
            if verb == "AUTH":
                self.server.passwords.append(line.decode())
            self._reply(self.server.answers.get(verb, "250 fine"))
            if verb == "QUIT":
                return

    def _keep(self) -> None:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line)
        self.server.letters.append(b"".join(lines))

    def _reply(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())


class _MailServer(socketserver.ThreadingTCPServer):
    """A mail server on a free port that keeps the messages it receives."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _MailConversation)
        self.letters: list[bytes] = []
        self.passwords: list[str] = []
        self.answers = {"QUIT": "221 bye", "EHLO": "250-here\r\n250 AUTH PLAIN", "AUTH": "235 in"}

    @property
    def port(self) -> int:
        """Return the port the server listens on."""
        return int(self.server_address[1])


@pytest.fixture
def mail_server() -> Iterator[_MailServer]:
    """Return a running mail server."""
    with _MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def _mail_server(port: int, **changed: str) -> MailServer:
    environment = {
        "READING_ROOM_SMTP": f"smtp://127.0.0.1:{port}",
        "READING_ROOM_MAIL_FROM": "study@example.org",
        **changed,
    }
    server = MailServer.from_environment(environment)
    assert server is not None
    return server


@pytest.fixture
def reachable_study(opened: Opened) -> Store:
    """Return an open study whose reader R1 has a name and an address."""
    store = opened(session_days=5)
    with store.change() as change:
        number = change.value(
            "SELECT person FROM grants JOIN readers ON readers.id = reader WHERE reader_id = 'R1'"
        )
        change.insert("names", person=number, name="Dr. Jane Röntgen", email="jane@example.org")
    return store


def _reader_progress(progress: Progress, reader_id: str = "R1") -> ReaderProgress:
    return next(reader for reader in progress.readers if reader.reader_id == reader_id)


def _letter(store: Store, name: str = "", days: float = 0) -> str:
    progress = progress_of(store, "trial", now=NOW + timedelta(days=days))
    return compose_reminder(
        progress, _reader_progress(progress), name=name, address="https://room.example/"
    ).text


def test_the_message_states_progress_deadline_and_address(reachable_study: Store) -> None:
    """The message explains where to find the access code, and does not contain it."""
    assert "8 cases in the study trial are waiting" in _letter(reachable_study)
    case = desk.desk(reachable_study, person(reachable_study), now=NOW).cases[0].case
    desk.take_records(
        reachable_study, person(reachable_study), [presentation(case), reading(case)], now=NOW
    )
    text = _letter(reachable_study, "Dr. Jane Röntgen")
    assert text.startswith("Dear Dr. Jane Röntgen,")
    assert "You have read 1 of 8 cases in the study trial; 7 remain." in text
    assert "Session 1 ends on 9 Jun 2025, 12:00 UTC." in text
    assert "https://room.example/" in text
    assert "access code you were given for R1" in text
    assert _letter(reachable_study).startswith("Dear R1,")
    assert "ran out on 9 Jun 2025, 12:00 UTC" in _letter(reachable_study, days=6)


def test_finished_and_simulated_readers_are_not_reminded(reachable_study: Store) -> None:
    """Only a reader who can still read may be reminded."""
    progress = progress_of(reachable_study, "trial", now=NOW)
    assert may_be_reminded(_reader_progress(progress))
    tamper(reachable_study, "UPDATE readers SET simulated = 1 WHERE reader_id = 'R1'")
    assert not may_be_reminded(_reader_progress(progress_of(reachable_study, "trial", now=NOW)))


def test_the_trail_of_a_reminder_has_the_study_code_only(
    reachable_study: Store, mail_server: _MailServer
) -> None:
    """The mail server receives name and address; the audit trail contains neither."""
    send_reminder(
        reachable_study,
        _mail_server(mail_server.port),
        LETTER,
        study="trial",
        reader_id="R1",
        acting=ACTING,
    )
    letter = message_from_bytes(mail_server.letters[0], policy=policy.default)
    assert (letter["To"], letter["From"]) == ("jane@example.org", "study@example.org")
    assert letter["Subject"] == "Your cases"
    assert "Über 3 cases are left." in str(letter.get_content())
    with reachable_study.look() as look:
        last = list(events.walk(look, events.study_chain("trial")))[-1]
    assert last.kind == "reminder sent"
    assert last.detail == {"reader_id": "R1", "way": "e-mail", "role": "coordinator"}
    assert last_reminder_times(reachable_study, "trial") == {"R1": last.at_utc}
    assert verify(reachable_study) == []


def test_a_reminder_sent_by_hand_can_be_recorded(reachable_study: Store) -> None:
    """The study must be open."""
    record_sent(reachable_study, study="trial", reader_id="R2", acting=ACTING)
    assert list(last_reminder_times(reachable_study, "trial")) == ["R2"]
    tamper(reachable_study, "UPDATE studies SET state = 'closed'")
    with pytest.raises(NotNow):
        record_sent(reachable_study, study="trial", reader_id="R2", acting=ACTING)


def test_a_reader_without_an_address_gets_no_message(
    reachable_study: Store, mail_server: _MailServer
) -> None:
    """The request is refused before the mail server is contacted."""
    assert find_addressee(reachable_study, "trial", "R2").email == ""
    with pytest.raises(NotFound):
        send_reminder(
            reachable_study,
            _mail_server(mail_server.port),
            LETTER,
            study="trial",
            reader_id="R2",
            acting=ACTING,
        )
    assert mail_server.letters == []


@pytest.mark.parametrize(
    ("verb", "answer", "words"),
    [
        ("RCPT", "550 unknown", "does not accept messages to this address"),
        ("MAIL", "554 no", "code 554"),
        ("AUTH", "535 wrong", "rejected the user name"),
    ],
)
def test_a_refusal_of_the_mail_server_is_one_sentence_and_not_recorded(
    reachable_study: Store, mail_server: _MailServer, verb: str, answer: str, words: str
) -> None:
    """The message contains no traceback and no address, and no event is added."""
    mail_server.answers[verb] = answer
    server = _mail_server(
        mail_server.port, READING_ROOM_SMTP=f"smtp://u:p%40ss@127.0.0.1:{mail_server.port}"
    )
    with pytest.raises(Undelivered, match=words) as refused:
        send_reminder(reachable_study, server, LETTER, study="trial", reader_id="R1", acting=ACTING)
    assert "jane" not in str(refused.value)
    assert last_reminder_times(reachable_study, "trial") == {}


def test_an_unreachable_server_is_reported_in_one_sentence() -> None:
    """No process listens at a port that was just released."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(Undelivered, match="could not be reached"):
        send(_mail_server(port), to="a@example.org", subject="s", text="t")


def test_a_server_that_does_not_answer_is_abandoned_after_the_timeout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The server accepts the connection and sends nothing."""
    monkeypatch.setattr("study.base.mail.TIMEOUT_S", 0.2)
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        with pytest.raises(Undelivered, match="could not be reached"):
            send(_mail_server(deaf.getsockname()[1]), to="a@example.org", subject="s", text="t")


@pytest.mark.parametrize("to", ["", "nobody", "a@b\nBcc: c@d", "a@b, c@d", "<a@b>x"])
def test_an_invalid_address_is_refused(mail_server: _MailServer, to: str) -> None:
    """An address cannot add a second recipient either."""
    with pytest.raises(Undelivered, match="not an email address"):
        send(_mail_server(mail_server.port), to=to, subject="s", text="t")
    assert mail_server.letters == []


def test_an_unencrypted_password_is_sent_only_to_the_same_computer(
    mail_server: _MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The password is sent to another computer encrypted or not at all."""
    url = f"smtp://u:p%40ss@127.0.0.1:{mail_server.port}"
    server = _mail_server(mail_server.port, READING_ROOM_SMTP=url)
    assert server.password == "p@ss"
    assert "p@ss" not in repr(server)
    send(server, to="a@example.org", subject="s", text="t")
    assert len(mail_server.passwords) == 1
    monkeypatch.setattr("study.base.mail._LOCAL_HOSTS", frozenset())
    with pytest.raises(Undelivered, match="not sent"):
        send(server, to="a@example.org", subject="s", text="t")
    assert len(mail_server.passwords) == 1


@pytest.mark.parametrize(
    "environment",
    [
        {"READING_ROOM_SMTP": "mail.example.org"},
        {"READING_ROOM_SMTP": "http://mail.example.org"},
        {"READING_ROOM_SMTP": "smtp://mail.example.org:x"},
        {"READING_ROOM_SMTP": "smtp://mail.example.org"},
    ],
)
def test_an_invalid_server_setting_is_refused(environment: dict[str, Any]) -> None:
    """The scheme or port is wrong or missing, or the sender is missing."""
    with pytest.raises(Undelivered):
        MailServer.from_environment(environment)


def test_a_mail_server_is_optional() -> None:
    """Without a mail server, coordinators copy the messages."""
    assert MailServer.from_environment({}) is None
    assert _mail_server(1, READING_ROOM_SMTP="smtps://mail.example.org").port == 465


def _environment(port: int) -> dict[str, str]:
    return {
        "READING_ROOM_SMTP": f"smtp://127.0.0.1:{port}",
        "READING_ROOM_MAIL_FROM": "study@example.org",
    }


def _schedule(store: Store, days: int = 2, at: float = 0) -> None:
    acting = Acting(by=BY, now=NOW + timedelta(days=at))
    schedule_reminders(store, study="trial", days=days, address="https://r.example/", acting=acting)


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        pytest.param([1.9], 0, id="not yet"),
        pytest.param([2], 1, id="after two days"),
        pytest.param([2, 2.1, 3.9], 1, id="once within two days"),
        pytest.param([2, 4], 2, id="again after two days"),
        pytest.param([5.1], 0, id="after the session"),
    ],
)
def test_inactive_readers_are_reminded_on_schedule(
    reachable_study: Store, mail_server: _MailServer, days: list[float], expected: int
) -> None:
    """The five days start with the first presentation in the session."""
    case = desk.desk(reachable_study, person(reachable_study), now=NOW).cases[0].case
    desk.take_records(reachable_study, person(reachable_study), [presentation(case)], now=NOW)
    _schedule(reachable_study)
    for day in days:
        now = NOW + timedelta(days=day)
        assert send_due_reminders(reachable_study, _environment(mail_server.port), now=now) == []
    assert len(mail_server.letters) == expected
    assert [event.actor for event in _reminders(reachable_study)] == ["schedule"] * expected
    assert verify(reachable_study) == []


def test_a_suspended_server_does_not_repeat_the_reminders_of_another(
    reachable_study: Store, mail_server: _MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first server stops after one letter until its lease has ended; another sends the rest."""
    with reachable_study.change() as change:
        change.execute(
            "INSERT INTO names (person, name, email) SELECT person, 'Dr. Bo', 'bo@example.org' "
            "FROM grants JOIN readers ON readers.id = reader WHERE reader_id = 'R2'"
        )
    _schedule(reachable_study)
    after = NOW + timedelta(days=3)

    def suspended(*arguments: Any, **named: Any) -> None:
        monkeypatch.undo()
        send_reminder(*arguments, **named)
        with reachable_study.change() as change:
            holder, _, _ = deployment.value(change, "lease/reminders").partition(" ")
            deployment.set_value(change, "lease/reminders", f"{holder} {stamp(NOW)}")
        assert send_due_reminders(reachable_study, _environment(mail_server.port), now=after) == []

    monkeypatch.setattr(scheduled_reminders, "send_reminder", suspended)
    assert send_due_reminders(reachable_study, _environment(mail_server.port), now=after) == []
    assert [event.detail["reader_id"] for event in _reminders(reachable_study)] == ["R1", "R2"]
    assert len(mail_server.letters) == 2


def _reminders(store: Store) -> list[events.EventRow]:
    with store.look() as look:
        return events.of_kinds(look, events.study_chain("trial"), ["reminder sent"])


def test_a_reading_or_a_later_schedule_postpones_a_reminder(
    reachable_study: Store, mail_server: _MailServer
) -> None:
    """Days are counted from the later of reading and schedule."""
    case = desk.desk(reachable_study, person(reachable_study), now=NOW).cases[0].case
    _schedule(reachable_study)
    later = NOW + timedelta(days=1)
    desk.take_records(
        reachable_study, person(reachable_study), [presentation(case), reading(case)], now=later
    )
    send_due_reminders(
        reachable_study, _environment(mail_server.port), now=NOW + timedelta(days=2.5)
    )
    _schedule(reachable_study, at=2.5)
    send_due_reminders(
        reachable_study, _environment(mail_server.port), now=NOW + timedelta(days=4.4)
    )
    assert mail_server.letters == []
    send_due_reminders(
        reachable_study, _environment(mail_server.port), now=NOW + timedelta(days=4.6)
    )
    assert len(mail_server.letters) == 1
    assert "https://r.example/" in mail_server.letters[0].decode()


def test_nothing_is_sent_without_schedule_server_or_open_study(
    reachable_study: Store, mail_server: _MailServer
) -> None:
    """A schedule of 0 days turns reminders off; an unreachable server is reported."""
    after = NOW + timedelta(days=3)
    assert send_due_reminders(reachable_study, _environment(mail_server.port), now=after) == []
    _schedule(reachable_study)
    assert send_due_reminders(reachable_study, {}, now=after) == []
    (failure,) = send_due_reminders(reachable_study, _environment(1), now=after)
    assert "could not be reached" in failure
    _schedule(reachable_study, days=0)
    assert send_due_reminders(reachable_study, _environment(mail_server.port), now=after) == []
    assert mail_server.letters == []
    assert reminder_schedule(reachable_study, "trial").days == 0
    with pytest.raises(BadInput, match="0 to 60"):
        _schedule(reachable_study, days=61)
