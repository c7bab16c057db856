"""Offsets of time zones are those of Python's zoneinfo, for all zones and centuries."""

from __future__ import annotations

import datetime as dt
import random
import zoneinfo

import numpy as np
import pytest

from eddyline.algebra.functions.zone_rules import zone_rules
from eddyline.errors import SqlError

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def offset(moment: dt.datetime) -> int:
    shift = moment.utcoffset()
    assert shift is not None
    return round(shift.total_seconds())


def test_offsets_of_all_zones() -> None:
    rng = random.Random(3)
    for name in sorted(zoneinfo.available_timezones() - {"localtime"}):
        zone, rules = zoneinfo.ZoneInfo(name), zone_rules(name)
        some = rng.sample(range(len(rules.changes)), min(20, len(rules.changes)))
        near = [int(rules.changes[i]) + rng.choice([-1, 0, 1]) for i in some]
        seconds = [*near, *(rng.randrange(-62_000_000_000, 253_000_000_000) for _ in range(30))]
        seconds = [s for s in seconds if -62_000_000_000 < s < 253_000_000_000]
        expected = [offset((EPOCH + dt.timedelta(seconds=s)).astimezone(zone)) for s in seconds]
        assert rules.offsets_at(np.array(seconds)).tolist() == expected, name


def test_local_times_that_are_twice_or_left_out() -> None:
    for name in ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia"):
        zone, rules = zoneinfo.ZoneInfo(name), zone_rules(name)
        seconds = [int(c) + h * 1_800 for c in rules.changes[1:200] for h in range(-60, 60)]
        local = [dt.datetime(1970, 1, 1) + dt.timedelta(seconds=s) for s in seconds]
        expected = [offset(m.replace(tzinfo=zone, fold=0)) for m in local]
        assert rules.offsets_of_local(np.array(seconds)).tolist() == expected, name


@pytest.mark.parametrize(
    ("name", "seconds"),
    [("+02:00", 7_200), ("-3", -10_800), ("UTC+1", 3_600), ("GMT-05:30", -19_800), ("Z", 0)],
)
def test_fixed_offsets(name: str, seconds: int) -> None:
    assert zone_rules(name).offsets_at(np.array([0])).tolist() == [seconds]


@pytest.mark.parametrize("name", ["Europe/Berlim", "", "+19:00", "../UTC", "CEST"])
def test_unknown_zones(name: str) -> None:
    with pytest.raises(SqlError, match="there is no time zone"):
        zone_rules(name)
