"""A code is valid until the end of the printed day, in the coordinator's time zone."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies

from study.base import translation
from study.base.canonical import stamp
from study.people.codes import end_of_day

ZONES = (
    *("UTC", "Europe/Berlin", "America/Los_Angeles", "Asia/Kolkata", "Asia/Kathmandu"),
    *("Pacific/Kiritimati", "Pacific/Pago_Pago", "Australia/Lord_Howe", "America/St_Johns"),
    *("America/Sao_Paulo", "America/Havana", "Asia/Beirut", "Africa/Cairo", "Atlantic/Azores"),
)
BERLIN, LOS_ANGELES = ZoneInfo("Europe/Berlin"), ZoneInfo("America/Los_Angeles")


@pytest.mark.parametrize(
    ("given_at", "zone", "printed"),
    [
        (datetime(2026, 11, 2, 9, tzinfo=BERLIN), BERLIN, "the end of 9 Nov 2026 (Europe/Berlin)"),
        (datetime(2026, 11, 2, 0, 30, tzinfo=BERLIN), BERLIN, "the end of 9 Nov 2026"),
        (datetime(2026, 11, 2, 20, tzinfo=LOS_ANGELES), LOS_ANGELES, "the end of 9 Nov 2026"),
        (datetime(2026, 10, 20, 12, tzinfo=BERLIN), BERLIN, "the end of 27 Oct 2026"),  # 25 h day
        (datetime(2026, 3, 22, 12, tzinfo=BERLIN), BERLIN, "the end of 29 Mar 2026"),  # 23 h day
    ],
)
def test_a_code_valid_for_seven_days_expires_after_the_seventh_day(
    given_at: datetime, zone: ZoneInfo, printed: str
) -> None:
    """The rule applies on either side of UTC, at any hour, and when the clocks change."""
    expires = end_of_day(given_at.astimezone(UTC), 7, zone)
    assert translation.period_end(stamp(expires), zone).startswith(printed)


@pytest.mark.parametrize("zone", [ZoneInfo(name) for name in ZONES], ids=ZONES)
@given(
    at=strategies.datetimes(
        min_value=datetime(2015, 1, 1),
        max_value=datetime(2035, 1, 1),
        timezones=strategies.just(UTC),
    ),
    days=strategies.sampled_from([0, 1, 7, 30, 90, 365]),
)
def test_a_code_expires_at_the_end_of_the_printed_day(
    zone: ZoneInfo, at: datetime, days: int
) -> None:
    """The day is that of the coordinator's time zone, which is printed with it."""
    expires = end_of_day(at, days, zone)
    last = (expires - timedelta(milliseconds=1)).astimezone(zone).date()
    assert last == at.astimezone(zone).date() + timedelta(days=days)
    assert expires.astimezone(zone).date() > last
    words = translation.period_end(stamp(expires), zone)
    assert words.startswith("the end of")
    assert str(zone) in words


def test_in_another_time_zone_the_expiry_is_printed_with_the_time() -> None:
    """A colleague in New York sees the local time to the minute."""
    expires = stamp(end_of_day(datetime(2026, 11, 2, 8, tzinfo=UTC), 7, BERLIN))
    zone = ZoneInfo("America/New_York")
    assert translation.period_end(expires, zone) == "9 Nov 2026, 18:00 (America/New_York)"
