"""Errors of the operating system in the user's language."""

import errno
import os
import smtplib
import socket
import ssl

import pytest

from study.base.system import system_reason
from study.base.translation import in_language


@pytest.mark.parametrize("number", sorted(errno.errorcode))
def test_a_reason_never_contains_the_text_of_the_operating_system(number: int) -> None:
    """Error codes for which this program has no text are named by their symbol."""
    reason = system_reason(OSError(number, os.strerror(number)))
    assert os.strerror(number).lower() not in reason.lower()
    assert reason


def test_network_errors_have_specific_reasons() -> None:
    """Some network errors have numbers that mean something else for files."""
    assert "name" in system_reason(socket.gaierror(-2, "Name or service not known"))
    assert "encrypted" in system_reason(ssl.SSLError(1, "CERTIFICATE_VERIFY_FAILED"))
    assert "time" in system_reason(TimeoutError("timed out"))
    lost = system_reason(smtplib.SMTPServerDisconnected("Connection unexpectedly closed"))
    assert lost == "error SMTPServerDisconnected"


def test_known_reasons_are_translated() -> None:
    """The reasons are in the catalogues like other messages."""
    with in_language("de"):
        assert "No space" not in system_reason(OSError(errno.ENOSPC, "No space left on device"))
