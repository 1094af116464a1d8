"""Text from outside: what cannot be read as it was meant is refused."""

import pytest

from study.base.errors import BadFile
from study.base.text import decoded


def test_a_file_in_another_encoding_is_refused_not_damaged() -> None:
    """As a spreadsheet saves names with umlauts where it is not asked for UTF-8."""
    assert decoded("\ufeffreader_id,name\nR1,Müller".encode(), source="readers.csv").startswith("r")
    with pytest.raises(BadFile, match=r"readers\.csv is not encoded in UTF-8"):
        decoded("reader_id,name\nR1,Müller".encode("cp1252"), source="readers.csv")
