"""Messages of errors quote only a part of a long line."""

import pickle

import pytest

from study.base.errors import BadFile, BeyondBudget, NotNow, StudyError


@pytest.mark.parametrize("kind", [StudyError, BadFile, BeyondBudget, NotNow])
def test_a_message_shortens_a_long_quoted_line(kind: type[StudyError]) -> None:
    """The beginning and the end of a long line are kept; other lines do not change."""
    short = "file.json has faults:\n- " + "x" * 9_000
    assert str(kind(short)) == short
    error = kind(f"{short}\n- {'q' * 1_000_000}: given again")
    assert len(str(error)) < 20_000
    assert str(error).startswith(f"{short}\n- qqq")
    assert str(error).endswith("qqq: given again")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
