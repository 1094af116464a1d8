"""The data that a server keeps during a sign-in."""

from datetime import UTC, datetime, timedelta
from unittest.mock import patch

from study.people.signing_in import MAX_DURATION
from ui.server import sign_in_memory
from ui.server.sign_in_memory import forget, memory_of


def test_the_windows_of_a_sign_in_share_a_memory() -> None:
    """It ends with the sign-in; another sign-in has its own."""
    memory_of("first")["codes"] = ["K7QF"]
    assert memory_of("first") == {"codes": ["K7QF"]}
    assert memory_of("second") == {}
    forget("first")
    assert memory_of("first") == {}


def test_a_memory_ends_when_its_sign_in_must_have_ended() -> None:
    """A person who closes the browser does not sign out."""
    memory_of("left")["codes"] = ["K7QF"]
    later = datetime.now(UTC) + MAX_DURATION + timedelta(seconds=1)
    with patch.object(sign_in_memory, "datetime") as clock:
        clock.now.return_value = later
        assert memory_of("left") == {}
