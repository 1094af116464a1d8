"""Sends e-mail through the deployment's mail server, if it has one.

The server is set by ``READING_ROOM_SMTP=smtp://user:password@host:587`` (or ``smtps://`` for
implicit TLS) and ``READING_ROOM_MAIL_FROM``. STARTTLS is used if the server offers it. A password
is never sent unencrypted, except to a server on this computer.
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
from study.base.system import system_reason
from study.base.translation import t

SERVER, SENDER = "READING_ROOM_SMTP", "READING_ROOM_MAIL_FROM"
TIMEOUT_S = 5.0
"""Timeout of each exchange with the server; short because a person is waiting."""

_PORTS = {"smtp": 25, "smtps": 465}
_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServer:
    """A mail server and the sender's address; the password does not appear in `repr`."""

    host: str
    port: int
    encrypted: bool
    user: str
    password: str = field(repr=False)
    sender: str

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "MailServer | None":
        """Return the mail server set in the environment, or None.

        Raises
        ------
        Undelivered
            The server's address is invalid, or the sender is missing.
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
    """Send a message.

    Raises
    ------
    Undelivered
        The server could not be reached or refused the message. The error does not contain the
        recipient's address.
    """
    message = _message(server.sender, to, subject, text)
    try:
        connection = _connect(server)
    except smtplib.SMTPAuthenticationError as error:
        raise Undelivered(t("The mail server rejected the user name and password.")) from error
    except (smtplib.SMTPException, OSError) as error:
        raise Undelivered(_unreachable_message(server, error)) from error
    try:
        with connection:
            connection.send_message(message, from_addr=server.sender, to_addrs=[to])
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
    """Check an e-mail address.

    Raises
    ------
    Undelivered
        It is not a valid e-mail address.
    """
    _message("", email, "", "")


def _message(sender: str, to: str, subject: str, text: str) -> EmailMessage:
    """Return a message, or refuse an invalid address, such as one with a line break."""
    message = EmailMessage()
    try:
        Address(addr_spec=to)
        message["From"], message["To"], message["Subject"] = sender, to, " ".join(subject.split())
    except (ValueError, IndexError, MessageError) as error:
        raise Undelivered(
            t("This is not an email address that messages can be sent to.")
        ) from error
    message.set_content(text)
    return message


def _connect(server: MailServer) -> smtplib.SMTP:
    context = ssl.create_default_context()
    connection: smtplib.SMTP
    if server.encrypted:
        connection = smtplib.SMTP_SSL(server.host, server.port, timeout=TIMEOUT_S, context=context)
    else:
        connection = smtplib.SMTP(server.host, server.port, timeout=TIMEOUT_S)
    try:
        _log_in(connection, server, context)
    except BaseException:
        connection.close()
        raise
    return connection


def _log_in(connection: smtplib.SMTP, server: MailServer, context: ssl.SSLContext) -> None:
    connection.ehlo()
    is_encrypted = server.encrypted or server.host in _LOCAL_HOSTS
    if not server.encrypted and connection.has_extn("starttls"):
        connection.starttls(context=context)
        connection.ehlo()
        is_encrypted = True
    if server.user:
        if not is_encrypted:
            raise Undelivered(
                t("The mail server does not offer encryption; the password was not sent.")
            )
        connection.login(server.user, server.password)


def _unreachable_message(server: MailServer, error: Exception) -> str:
    return t(
        "The mail server {host}:{port} could not be reached ({why}). Nothing was sent.",
        host=server.host,
        port=str(server.port),
        why=system_reason(error),
    )
