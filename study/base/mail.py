"""Hands a letter to the mail server the deployment names; without one, people copy letters.

``READING_ROOM_SMTP=smtp://user:password@host:587`` (or ``smtps://`` for TLS from the first byte)
and ``READING_ROOM_MAIL_FROM`` say which. Where the server offers STARTTLS it is used; a password
never goes over an open line, except to this computer itself.
"""

import smtplib
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

from study.base.errors import Undelivered
from study.base.translation import t

SERVER, SENDER = "READING_ROOM_SMTP", "READING_ROOM_MAIL_FROM"
TIMEOUT_S = 5.0
"""How long each step with the server may take: a person waits for it."""

_PORTS = {"smtp": 25, "smtps": 465}
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServer:
    """A mail server and whom letters come from; the password is in no text of it."""

    host: str
    port: int
    encrypted: bool
    user: str
    password: str = field(repr=False)
    sender: str

    @classmethod
    def named(cls, environment: Mapping[str, str]) -> "MailServer | None":
        """Return the server the environment names, or None where it names none.

        Raises
        ------
        Undelivered
            The address cannot be read, or nobody is named that letters come from.
        """
        url, sender = environment.get(SERVER, ""), environment.get(SENDER, "")
        if not url:
            return None
        try:
            parts = urlsplit(url)
            port = parts.port or _PORTS[parts.scheme]
        except (KeyError, ValueError) as error:
            raise Undelivered(
                t(
                    "{name} is not a valid address, such as smtp://user:password@host:587.",
                    name=SERVER,
                )
            ) from error
        if not parts.hostname or not sender:
            raise Undelivered(
                t(
                    "{server} must contain a host, and {sender} an email address.",
                    server=SERVER,
                    sender=SENDER,
                )
            )
        return cls(
            host=parts.hostname,
            port=port,
            encrypted=parts.scheme == "smtps",
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            sender=sender,
        )


def send(server: MailServer, *, to: str, subject: str, text: str) -> None:
    """Hand one letter to the server.

    Raises
    ------
    Undelivered
        The server was not reached, or refused; the sentence says which, and names no address.
    """
    letter = _letter(server.sender, to, subject, text)
    try:
        line = _connected(server)
    except smtplib.SMTPAuthenticationError as error:
        raise Undelivered(t("The mail server rejected the user name and password.")) from error
    except (smtplib.SMTPException, OSError) as error:
        raise Undelivered(_unreached(server, error)) from error
    try:
        with line:
            line.send_message(letter, from_addr=server.sender, to_addrs=[to])
    except smtplib.SMTPRecipientsRefused as error:
        raise Undelivered(t("The mail server does not accept messages to this address.")) from error
    except smtplib.SMTPResponseException as error:
        raise Undelivered(
            t("The mail server rejected the message (code {code}).", code=error.smtp_code)
        ) from error
    except (smtplib.SMTPException, OSError) as error:
        raise Undelivered(
            t(
                "The connection to the mail server was lost; the message may or may not have been "
                "sent."
            )
        ) from error


def check_address(email: str) -> None:
    """Refuse what no letter can go to.

    Raises
    ------
    Undelivered
        It is no e-mail address.
    """
    _letter("", email, "", "")


def _letter(sender: str, to: str, subject: str, text: str) -> EmailMessage:
    """Make a letter; an address with a line break or without an @ would make it another's."""
    letter = EmailMessage()
    try:
        Address(addr_spec=to)
        letter["From"], letter["To"], letter["Subject"] = sender, to, " ".join(subject.split())
    except (ValueError, IndexError, MessageError) as error:
        raise Undelivered(
            t("This is not an email address that messages can be sent to.")
        ) from error
    letter.set_content(text)
    return letter


def _connected(server: MailServer) -> smtplib.SMTP:
    context = ssl.create_default_context()
    line: smtplib.SMTP
    if server.encrypted:
        line = smtplib.SMTP_SSL(server.host, server.port, timeout=TIMEOUT_S, context=context)
    else:
        line = smtplib.SMTP(server.host, server.port, timeout=TIMEOUT_S)
    try:
        _introduce(line, server, context)
    except BaseException:
        line.close()
        raise
    return line


def _introduce(line: smtplib.SMTP, server: MailServer, context: ssl.SSLContext) -> None:
    line.ehlo()
    secret = server.encrypted or server.host in _HERE
    if not server.encrypted and line.has_extn("starttls"):
        line.starttls(context=context)
        line.ehlo()
        secret = True
    if server.user:
        if not secret:
            raise Undelivered(
                t("The mail server does not offer encryption; the password was not sent.")
            )
        line.login(server.user, server.password)


def _unreached(server: MailServer, error: Exception) -> str:
    return t(
        "The mail server {host}:{port} could not be reached ({why}). Nothing was sent.",
        host=server.host,
        port=str(server.port),
        why=getattr(error, "strerror", None) or type(error).__name__,
    )
