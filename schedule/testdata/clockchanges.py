#!/usr/bin/env python3
"""Writes clockchanges.txt, the reference that TestClockChanges compares with:

    schedule/testdata/clockchanges.py > schedule/testdata/clockchanges.txt

Nothing of it is Flowdrive's: the zones are those of Python's zoneinfo, and the
instants are found by looking at every minute around a change of the clocks.
"""

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

# A zone and a day shortly before its clocks are changed, forward and back.
ZONES = [
    ("Europe/Berlin", "2024-03-30", "2024-10-26"),
    ("America/New_York", "2024-03-09", "2024-11-02"),
    ("Australia/Sydney", "2024-10-05", "2024-04-06"),  # the south: back in April
    ("Australia/Lord_Howe", "2024-10-05", "2024-04-06"),  # by half an hour
    ("Pacific/Chatham", "2024-09-28", "2024-04-06"),  # 12:45 ahead of UTC
    ("Europe/Dublin", "2024-03-30", "2024-10-26"),  # whose winter is the exception
    ("Africa/Cairo", "2024-04-25", "2024-10-31"),  # midnight does not exist
    ("Asia/Beirut", "2024-03-30", "2024-10-26"),  # likewise, and comes back to 23:00
    ("America/Havana", "2024-03-09", "2024-11-02"),  # likewise, and comes back at 01:00
    ("America/Asuncion", "2024-10-05", "2024-03-23"),  # likewise; the last times, it has no summer time since
    ("America/Sao_Paulo", "2018-11-03", "2019-02-16"),  # likewise
    ("America/St_Johns", "2011-03-12", "2010-11-06"),  # at one minute past midnight
    ("Pacific/Apia", "2011-12-29", "2012-03-31"),  # there was no 30 December
    ("Africa/Casablanca", "2024-04-13", "2024-03-09"),  # back for Ramadan
    ("Antarctica/Troll", "2024-03-30", "2024-10-26"),  # by two hours
    ("Asia/Tehran", "2022-03-20", "2022-09-20"),  # the last times
]

MINUTE = timedelta(minutes=1)


def wall(at, zone):
    """What clocks show in the zone."""
    return at.astimezone(zone).replace(tzinfo=None)


def change(zone, day, forward):
    """The first minute after a change of the clocks, and from what to what."""
    at = datetime.fromisoformat(day).replace(tzinfo=timezone.utc)
    for _ in range(4 * 24 * 60):
        before, now = wall(at - MINUTE, zone) + MINUTE, wall(at, zone)
        if now != before:
            assert (now > before) == forward, (zone, at)
            return at, before, now
        at += MINUTE
    raise ValueError(f"{zone} changes nothing after {day}")


def numbers(text, low, high):
    """The values of a field of a crontab line."""
    out = set()
    for item in text.split(","):
        span, _, step = item.partition("/")
        first, _, last = span.partition("-")
        if span == "*":
            first, last = low, high
        out |= set(range(int(first), int(last or first) + 1, int(step or 1)))
    return out


def matches(spec, at):
    minutes, hours, days, months, _ = spec.split()
    return (
        at.minute in numbers(minutes, 0, 59)
        and at.hour in numbers(hours, 0, 23)
        and at.day in numbers(days, 1, 31)
        and at.month in numbers(months, 1, 12)
    )


def every_hour(spec):
    hours = spec.split()[1]
    return hours == "*" or hours.startswith("*/")


def fires(spec, zone, at, gap, overlap):
    """Whether an entry comes at that minute."""
    now, before = wall(at, zone), wall(at - MINUTE, zone) + MINUTE
    if matches(spec, now):
        again = [d for d in range(-180, 181) if d and wall(at + d * MINUTE, zone) == now]
        if every_hour(spec) or not again or overlap == "both":
            return True
        if overlap == "first" and min(again) > 0 or overlap == "last" and max(again) < 0:
            return True
    if gap != "shift" or every_hour(spec):
        return False
    while before < now:  # these did not exist
        if matches(spec, before):
            return True
        before += MINUTE
    return False


def specs(first, last):
    """Lines for the local times between first and last that are special."""
    middle = first + (last - first) / 2
    hours = ",".join(dict.fromkeys(str((first + timedelta(hours=h)).hour) for h in range(3)))
    return [
        *dict.fromkeys((f"{at.minute} {at.hour} * * *", 30) for at in (first, middle, last)),
        (f"{middle.minute} {middle.hour} {middle.day} {middle.month} *", 30),
        (f"*/20 {hours} * * *", 5),
        ("15 * * * *", 3),
        ("15 */2 * * *", 5),
    ]


def rows(name, day, forward):
    zone = ZoneInfo(name)
    at, before, now = change(zone, day, forward)
    yield f"\n{name} {at:%Y-%m-%dT%H:%M}Z, from {before:%Y-%m-%d %H:%M} to {now:%Y-%m-%d %H:%M}\n"
    first, last = min(before, now), max(before, now)
    for spec, hours in specs(first, last):
        for policy in ("shift", "skip") if forward else ("first", "last", "both"):
            gap, overlap = (policy, "first") if forward else ("shift", policy)
            from_, minutes = at - timedelta(hours=hours), 2 * hours * 60
            found = [from_ + i * MINUTE for i in range(minutes) if fires(spec, zone, from_ + i * MINUTE, gap, overlap)]
            text = " ".join(f"{f:%dT%H:%M}" for f in found) or "never"
            yield f"  {policy:5} {hours:2}h  {spec:18} {text}\n"


print(
    """# Made by clockchanges.py. For each change of the clocks of a zone, at an instant
# in UTC and from one local time to another: the policy (dstGap where the clocks
# go forward, else dstOverlap; the other one is as it is by default), how many
# hours before and after the change are looked at, a crontab line, and its
# instants, as day and time in UTC."""
)
for zone_name, forward_day, back_day in ZONES:
    print("".join(rows(zone_name, forward_day, True)), end="")
    print("".join(rows(zone_name, back_day, False)), end="")
