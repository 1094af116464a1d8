"""Reminders: what the letter says, how it goes out, and what the trail keeps of it."""

import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from email import message_from_bytes, policy
from typing import Any

import pytest

from study.base.actor import By
from study.base.errors import NotFound, NotNow, Undelivered
from study.base.mail import MailServer, send
from study.monitoring.progress import Progress, ReaderProgress, progress_of
from study.monitoring.reminders import (
    Letter,
    addressee,
    compose,
    may_be_reminded,
    note_sent,
    send_reminder,
    sent,
)
from study.reading import desk
from study.store import Store, events
from study.trail.verification import verify
from tests.conftest import NOW, person, presentation, reading, tamper

Opened = Callable[..., Store]
BY = By(name="c", role="coordinator")
LETTER = Letter(subject="Your cases", text="Dear R1,\n\nÜber 3 cases are left.")


class _Line(socketserver.StreamRequestHandler):
    """One conversation with the mail server of these tests."""

    server: "_MailServer"

    def handle(self) -> None:
        """Answer each command, and keep the letter."""
        self._say("220 here")
        while line := self.rfile.readline():
            verb = line.split()[0].upper().decode() if line.split() else ""
            if verb == "DATA":
                self._say("354 go on")
                self._keep()
            if verb == "AUTH":
                self.server.passwords.append(line.decode())
            self._say(self.server.answers.get(verb, "250 fine"))
            if verb == "QUIT":
                return

    def _keep(self) -> None:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line)
        self.server.letters.append(b"".join(lines))

    def _say(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())


class _MailServer(socketserver.ThreadingTCPServer):
    """A mail server on a free port that keeps what it is handed."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Line)
        self.letters: list[bytes] = []
        self.passwords: list[str] = []
        self.answers = {"QUIT": "221 bye", "EHLO": "250-here\r\n250 AUTH PLAIN", "AUTH": "235 in"}

    @property
    def port(self) -> int:
        """Return the port it listens on."""
        return int(self.server_address[1])


@pytest.fixture
def post() -> Iterator[_MailServer]:
    """Return a running mail server."""
    with _MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def _named(port: int, **changed: str) -> MailServer:
    environment = {
        "READING_ROOM_SMTP": f"smtp://127.0.0.1:{port}",
        "READING_ROOM_MAIL_FROM": "study@example.org",
        **changed,
    }
    found = MailServer.named(environment)
    assert found is not None
    return found


@pytest.fixture
def known(opened: Opened) -> Store:
    """Return an open study whose reader R1 has a name and an address."""
    store = opened(session_days=5)
    with store.change() as change:
        number = change.value(
            "SELECT person FROM grants JOIN readers ON readers.id = reader WHERE reader_id = 'R1'"
        )
        change.insert("names", person=number, name="Dr. Jane Röntgen", email="jane@example.org")
    return store


def _about(found: Progress, reader_id: str = "R1") -> ReaderProgress:
    return next(one for one in found.readers if one.reader_id == reader_id)


def _letter(store: Store, name: str = "", days: float = 0) -> str:
    found = progress_of(store, "trial", now=NOW + timedelta(days=days))
    return compose(found, _about(found), name=name, address="https://room.example/").text


def test_the_letter_says_how_far_until_when_and_where(known: Store) -> None:
    """Greeting, count, the session's end, the address, where the code is; never the code."""
    assert "8 cases in the study trial are waiting" in _letter(known)
    case = desk.desk(known, person(known), now=NOW).cases[0].case
    desk.take_records(known, person(known), [presentation(case), reading(case)], now=NOW)
    text = _letter(known, "Dr. Jane Röntgen")
    assert text.startswith("Dear Dr. Jane Röntgen,")
    assert "You have read 1 of 8 cases in the study trial; 7 remain." in text
    assert "Session 1 ends on 9 Jun 2025, 12:00 UTC." in text
    assert "https://room.example/" in text
    assert "access code you were given for R1" in text
    assert _letter(known).startswith("Dear R1,")
    assert "ran out on 9 Jun 2025, 12:00 UTC" in _letter(known, days=6)


def test_whoever_is_done_or_simulated_is_not_reminded(known: Store) -> None:
    """There is nothing to remind them of."""
    found = progress_of(known, "trial", now=NOW)
    assert may_be_reminded(_about(found))
    tamper(known, "UPDATE readers SET simulated = 1 WHERE reader_id = 'R1'")
    assert not may_be_reminded(_about(progress_of(known, "trial", now=NOW)))


def test_a_reminder_goes_out_and_the_trail_names_nobody(known: Store, post: _MailServer) -> None:
    """The server has the letter, the trail the study code; neither name nor address."""
    send_reminder(known, _named(post.port), LETTER, study="trial", reader_id="R1", by=BY, now=NOW)
    letter = message_from_bytes(post.letters[0], policy=policy.default)
    assert (letter["To"], letter["From"]) == ("jane@example.org", "study@example.org")
    assert letter["Subject"] == "Your cases"
    assert "Über 3 cases are left." in str(letter.get_content())
    with known.look() as look:
        last = list(events.walk(look, events.study_chain("trial")))[-1]
    assert last.kind == "reminder sent"
    assert last.detail == {"reader_id": "R1", "way": "e-mail", "role": "coordinator"}
    assert sent(known, "trial") == {"R1": last.at_utc}
    assert verify(known) == []


def test_what_was_sent_by_hand_can_be_noted(known: Store) -> None:
    """Only while the study is open."""
    note_sent(known, study="trial", reader_id="R2", by=BY, now=NOW)
    assert list(sent(known, "trial")) == ["R2"]
    tamper(known, "UPDATE studies SET state = 'closed'")
    with pytest.raises(NotNow):
        note_sent(known, study="trial", reader_id="R2", by=BY, now=NOW)


def test_without_an_address_nothing_goes_out(known: Store, post: _MailServer) -> None:
    """A reader nobody kept an address of is refused before the server is asked."""
    assert addressee(known, "trial", "R2").email == ""
    with pytest.raises(NotFound):
        send_reminder(
            known, _named(post.port), LETTER, study="trial", reader_id="R2", by=BY, now=NOW
        )
    assert post.letters == []


@pytest.mark.parametrize(
    ("verb", "answer", "words"),
    [
        ("RCPT", "550 unknown", "does not accept messages to this address"),
        ("MAIL", "554 no", "code 554"),
        ("AUTH", "535 wrong", "rejected the user name"),
    ],
)
def test_what_the_server_refuses_is_one_sentence_and_not_recorded(
    known: Store, post: _MailServer, verb: str, answer: str, words: str
) -> None:
    """No trace of Python, no address, no event."""
    post.answers[verb] = answer
    server = _named(post.port, READING_ROOM_SMTP=f"smtp://u:p%40ss@127.0.0.1:{post.port}")
    with pytest.raises(Undelivered, match=words) as refused:
        send_reminder(known, server, LETTER, study="trial", reader_id="R1", by=BY, now=NOW)
    assert "jane" not in str(refused.value)
    assert sent(known, "trial") == {}


def test_a_server_that_is_not_there_is_one_sentence() -> None:
    """Nobody listens at a port that was just given back."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(Undelivered, match="could not be reached"):
        send(_named(port), to="a@example.org", subject="s", text="t")


def test_a_silent_server_is_waited_for_no_longer_than_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes the connection and never says a word."""
    monkeypatch.setattr("study.base.mail.TIMEOUT_S", 0.2)
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        with pytest.raises(Undelivered, match="could not be reached"):
            send(_named(deaf.getsockname()[1]), to="a@example.org", subject="s", text="t")


@pytest.mark.parametrize("to", ["", "nobody", "a@b\nBcc: c@d", "a@b, c@d", "<a@b>x"])
def test_what_is_no_address_gets_no_letter(post: _MailServer, to: str) -> None:
    """Nor can an address bring a second one with it."""
    with pytest.raises(Undelivered, match="not an email address"):
        send(_named(post.port), to=to, subject="s", text="t")
    assert post.letters == []


def test_a_password_never_goes_over_an_open_line(
    post: _MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To this computer itself it may; to another one only encrypted."""
    url = f"smtp://u:p%40ss@127.0.0.1:{post.port}"
    server = _named(post.port, READING_ROOM_SMTP=url)
    assert server.password == "p@ss"
    assert "p@ss" not in repr(server)
    send(server, to="a@example.org", subject="s", text="t")
    assert len(post.passwords) == 1
    monkeypatch.setattr("study.base.mail._HERE", frozenset())
    with pytest.raises(Undelivered, match="not sent"):
        send(server, to="a@example.org", subject="s", text="t")
    assert len(post.passwords) == 1


@pytest.mark.parametrize(
    "environment",
    [
        {"READING_ROOM_SMTP": "mail.example.org"},
        {"READING_ROOM_SMTP": "http://mail.example.org"},
        {"READING_ROOM_SMTP": "smtp://mail.example.org:x"},
        {"READING_ROOM_SMTP": "smtp://mail.example.org"},
    ],
)
def test_a_server_that_is_named_wrongly_is_refused(environment: dict[str, Any]) -> None:
    """No scheme, another one, no port, nobody the letters come from."""
    with pytest.raises(Undelivered):
        MailServer.named(environment)


def test_no_server_is_no_fault() -> None:
    """Letters are copied then."""
    assert MailServer.named({}) is None
    assert _named(1, READING_ROOM_SMTP="smtps://mail.example.org").port == 465
