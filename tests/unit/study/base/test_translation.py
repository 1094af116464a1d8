"""Dates, times and numbers in the language of the page."""

import pytest

from study.base import translation
from study.base.translation import decimal, in_language, t


@pytest.mark.parametrize(
    ("language", "day", "minute", "share", "many"),
    [
        ("en", "23 Nov 2026", "23 Nov 2026, 09:05 UTC", "83.8", "12,000"),
        ("de", "23.11.2026", "23.11.2026, 09:05 UTC", "83,8", "12.000"),
        ("zh-Hans", "2026年11月23日", "2026年11月23日 09:05 UTC", "83.8", "12,000"),
    ],
)
def test_dates_times_and_numbers_are_formatted_for_the_language(
    language: str, day: str, minute: str, share: str, many: str
) -> None:
    """Times are in UTC; integers in messages are formatted too."""
    at = "2026-11-23T09:05:59.999Z"
    with in_language(language):
        assert translation.day(at) == day
        assert translation.date_and_time(at) == minute
        assert decimal(83.75, 1) == share
        assert many in t("{n} of {total}", n=1, total=12_000)
