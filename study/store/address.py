"""Addresses of stores: the path of a SQLite file, or the address of a PostgreSQL database."""

import os
import re
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from study.base.errors import BadInput
from study.base.translation import t

ADDRESS_FORM = "postgresql://user:password@host:port/database"
"""The form of the address of a PostgreSQL database; several hosts are separated by commas."""

_SERVER = re.compile("postgres(ql)?://")
_SCHEME = re.compile(r"\w{2,}:/")
_PASSWORD = re.compile(r"(?<=//)([^:@/]*):.*@|(?<=password=)[^&]*", re.DOTALL)

_UNCHECKED_TLS = {"disable": False, "prefer": None, "require": True}
"""Values of sslmode that do not check the certificate, with the driver's value for each."""

_OPTIONS = {"host", "sslmode", "sslrootcert", "target_session_attrs"}
_WRITABLE = ("read-write", "primary")
"""The supported values of target_session_attrs, which require a server that accepts changes."""


class ServerAddress(str):
    """The address of a PostgreSQL database, which is shown without its password.

    >>> address = ServerAddress("postgresql://reading_room:secret@db.example/reading_room")
    >>> f"{address}"
    'postgresql://reading_room@db.example/reading_room'
    >>> address
    'postgresql://reading_room@db.example/reading_room'
    >>> address.complete
    'postgresql://reading_room:secret@db.example/reading_room'
    """

    __slots__ = ()

    def __new__(cls, text: str) -> "ServerAddress":
        """Create an address from text, or from another address with its password."""
        return super().__new__(cls, text.complete if isinstance(text, ServerAddress) else text)

    def __str__(self) -> str:
        return _PASSWORD.sub(
            lambda match: "..." if match[1] is None else f"{match[1]}@", self.complete
        )

    def __repr__(self) -> str:
        return repr(str(self))

    def __format__(self, form: str) -> str:
        return format(str(self), form)

    @property
    def complete(self) -> str:
        """Return the address with its password."""
        return str.__str__(self)


def address_of(address: Path | str) -> Path | ServerAddress:
    """Parse the address of a store that a user entered.

    Raises
    ------
    BadInput
        The text is the address of something else.
    """
    if isinstance(address, Path | ServerAddress):
        return address
    if _SERVER.match(address):
        return ServerAddress(address)
    if _SCHEME.match(address):
        raise BadInput(
            t(
                "A store is the path of a SQLite file, or an address of the form {form}.",
                form=ADDRESS_FORM,
            )
        )
    return Path(address)


def is_server(address: Path | str) -> bool:
    """Return whether an address names a PostgreSQL database, not a file."""
    return isinstance(address_of(address), ServerAddress)


def settings_of(address: ServerAddress) -> dict[str, Any]:
    """Return the driver's arguments for an address, with the settings of each host."""
    try:
        parts = urlsplit(address.complete)
        user, host_texts = unquote(parts.username or ""), parts.netloc.rpartition("@")[2].split(",")
        hosts = [
            (each.hostname, each.port or 5432) for each in (urlsplit(f"//{h}") for h in host_texts)
        ]
    except ValueError:  # its message contains a part of the password
        user = ""
    name = unquote(parts.path.removeprefix("/")) if user else ""
    if not name:
        raise BadInput(
            t(
                "The address of a PostgreSQL store has the form {form}. Characters such as / and @ "
                "in a password are written as %2F and %40.",
                form=ADDRESS_FORM,
            )
        )
    options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    _check_options(options)
    folder = options.get("host", "")
    return {
        "user": user,
        "password": unquote(parts.password or os.environ.get("PGPASSWORD", "")),
        "database": name,
        "hosts": [
            {
                "host": host or "localhost",
                "port": port,
                "unix_sock": f"{folder}/.s.PGSQL.{port}" if folder else None,
            }
            for host, port in hosts
        ],
        "ssl_context": _tls_setting(options),
    }


def _check_options(options: Mapping[str, str]) -> None:
    """Refuse options that would have no effect."""
    if unknown := sorted(options.keys() - _OPTIONS):
        raise BadInput(
            t(
                "The address of the database has an unknown option: {name}. Known are {names}.",
                name=unknown[0],
                names=", ".join(sorted(_OPTIONS)),
            )
        )
    if options.get("target_session_attrs", "primary") not in _WRITABLE:
        raise BadInput(t("target_session_attrs is one of {modes}.", modes=", ".join(_WRITABLE)))


def _tls_setting(options: Mapping[str, str]) -> Any:
    mode, authority = options.get("sslmode", "prefer"), options.get("sslrootcert")
    if mode in _UNCHECKED_TLS:
        return _UNCHECKED_TLS[mode]
    if mode not in ("verify-full", "verify-ca"):
        modes = ", ".join((*_UNCHECKED_TLS, "verify-ca", "verify-full"))
        raise BadInput(t("sslmode is one of {modes}.", modes=modes))
    try:
        context = ssl.create_default_context(cafile=authority)
    except OSError as error:
        raise BadInput(
            t("The certificates in {file} cannot be read: {why}.", file=authority, why=error)
        ) from error
    context.check_hostname = mode == "verify-full"
    return context
