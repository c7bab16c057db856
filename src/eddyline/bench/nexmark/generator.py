"""The rows of NEXMark: persons, their auctions and bids, in the proportions of its generator.

The number of an event decides what it is, when it happens and which ids exist by then; all else is
drawn. Of 50 events one is a person, 3 are auctions and 46 are bids. Half of the bids are for one
hot auction, three quarters by one hot bidder; three quarters of the auctions are of one hot seller.
Source of the numbers: the generator of github.com/nexmark/nexmark (Apache License 2.0). There the
ids of bidders are 1,000 higher: those of persons who come a thousand persons later.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.bench.nexmark.channels import Channels
from eddyline.bench.nexmark.texts import credit_cards, emails, filler, sentences
from eddyline.types import TIMESTAMP

Numbers = npt.NDArray[np.int64]

_FIRST_US: Final = 1_436_918_400_000_000  # 2015-07-15 00:00 UTC
_CYCLE: Final = 50
_AUCTIONS: Final = 3  # of a cycle, after its person
_FIRST_ID: Final = 1_000
_FIRST_CATEGORY: Final = 10
_CATEGORIES: Final = 5
_ACTIVE_PERSONS: Final = 1_000
_OPEN_AUCTIONS: Final = 100
_NOT_YET: Final = 10  # that many ids which do not exist yet may be drawn
_HOT_EACH: Final = 100  # so many ids pass until another one is hot
_SIZES: Final = {"persons": 200, "auctions": 500, "bids": 100}  # average bytes of a row

_FIRST_NAMES = pa.array(
    (
        *("Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah"),
        *("Deiter", "Walter"),
    )
)
_LAST_NAMES = pa.array(
    ["Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"]
)
_CITIES = pa.array(
    (
        *("Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond"),
        *("Seattle", "Kent", "Cheyenne"),
    )
)
_STATES = pa.array(["AZ", "CA", "ID", "OR", "WA", "WY"])


@dataclass(frozen=True)
class Auctions:
    """An endless sequence of events, of which any part can be made.

    Attributes:
        seed: other seeds make other values of the same events.
        events_per_s: events per second of event time; at 10,000 ten events share a millisecond.
    """

    seed: int = 1
    events_per_s: float = 10_000

    def rows(self, first: int, count: int) -> dict[str, pa.Table]:
        """Events ``first``, ``first + 1``, ... as rows of ``persons``, ``auctions`` and ``bids``.

        Values depend on ``first`` and on the seed: the same call makes the same rows.
        """
        number = first + np.arange(count, dtype=np.int64)
        place = number % _CYCLE
        random = np.random.default_rng([self.seed, 0, first])
        return {
            "persons": self._persons(random, number[place == 0]),
            "auctions": self._auctions(random, number[(place > 0) & (place <= _AUCTIONS)]),
            "bids": self._bids(random, number[place > _AUCTIONS]),
        }

    def time_us(self, number: int) -> int:
        """The event time of an event, in microseconds since 1970."""
        return int(self._times_us(np.array([number]))[0])

    def _times_us(self, number: Numbers) -> Numbers:
        return _FIRST_US + np.floor(number * 1_000 / self.events_per_s).astype(np.int64) * 1_000

    def _persons(self, random: np.random.Generator, number: Numbers) -> pa.Table:
        rows = len(number)
        names = [_drawn(random, texts, rows) for texts in (_FIRST_NAMES, _LAST_NAMES)]
        columns = {
            "id": pa.array(_FIRST_ID + _last_person(number)),
            "name": pc.binary_join_element_wise(*names, " "),
            "emailAddress": emails(random, rows),
            "creditCard": credit_cards(random, rows),
            "city": _drawn(random, _CITIES, rows),
            "state": _drawn(random, _STATES, rows),
            "dateTime": _timestamps(self._times_us(number)),
        }
        return _filled(random, "persons", columns)

    def _auctions(self, random: np.random.Generator, number: Numbers) -> pa.Table:
        rows = len(number)
        time_us = self._times_us(number)
        initial = _prices(random, rows)
        columns = {
            "id": pa.array(_FIRST_ID + _last_auction(number)),
            "itemName": sentences(random, rows, 20),
            "description": sentences(random, rows, 100),
            "initialBid": pa.array(initial),
            "reserve": pa.array(initial + _prices(random, rows)),
            "dateTime": _timestamps(time_us),
            "expires": _timestamps(time_us + self._lives_us(random, rows)),
            "seller": pa.array(_FIRST_ID + _sellers(random, number)),
            "category": pa.array(_FIRST_CATEGORY + random.integers(0, _CATEGORIES, rows)),
        }
        return _filled(random, "auctions", columns)

    def _lives_us(self, random: np.random.Generator, rows: int) -> Numbers:
        """On average the time in which as many auctions are opened as are open at once."""
        horizon_ms = int(_OPEN_AUCTIONS * _CYCLE // _AUCTIONS * 1_000 / self.events_per_s)
        return (1 + random.integers(0, max(2 * horizon_ms, 1), rows)) * 1_000

    def _bids(self, random: np.random.Generator, number: Numbers) -> pa.Table:
        rows = len(number)
        channel, url = self._channels.drawn(random, rows)
        columns = {
            "auction": pa.array(_FIRST_ID + _bid_for(random, number)),
            "bidder": pa.array(_FIRST_ID + _bidders(random, number)),
            "price": pa.array(_prices(random, rows)),
            "channel": channel,
            "url": url,
            "dateTime": _timestamps(self._times_us(number)),
        }
        return _filled(random, "bids", columns, without=("channel", "url"))

    @cached_property
    def _channels(self) -> Channels:
        return Channels(self.seed)


def _last_person(number: Numbers) -> Numbers:
    """The youngest person at each event, from 0."""
    return number // _CYCLE


def _last_auction(number: Numbers) -> Numbers:
    """The youngest auction at each event, from 0; -1 at the first event, before all auctions."""
    return number // _CYCLE * _AUCTIONS + np.minimum(number % _CYCLE, _AUCTIONS) - 1


def _bid_for(random: np.random.Generator, number: Numbers) -> Numbers:
    last = _last_auction(number)
    oldest = np.maximum(last - _OPEN_AUCTIONS, 0)
    cold = random.integers(oldest, last + 1 + _NOT_YET)
    return np.where(random.random(len(number)) < 1 / 2, last // _HOT_EACH * _HOT_EACH, cold)


def _bidders(random: np.random.Generator, number: Numbers) -> Numbers:
    hot = _last_person(number) // _HOT_EACH * _HOT_EACH + 1
    return np.where(random.random(len(number)) < 3 / 4, hot, _some_person(random, number))


def _sellers(random: np.random.Generator, number: Numbers) -> Numbers:
    hot = _last_person(number) // _HOT_EACH * _HOT_EACH
    return np.where(random.random(len(number)) < 3 / 4, hot, _some_person(random, number))


def _some_person(random: np.random.Generator, number: Numbers) -> Numbers:
    """One of the youngest persons, or of the few that come next."""
    persons = _last_person(number) + 1
    active = np.minimum(persons, _ACTIVE_PERSONS)
    return random.integers(persons - active, persons + _NOT_YET)


def _prices(random: np.random.Generator, rows: int) -> Numbers:
    """From 1 to 1,000,000 dollars, in cents; each power of ten is as frequent as any other."""
    return np.rint(10 ** (6 * random.random(rows)) * 100).astype(np.int64)


def _drawn(random: np.random.Generator, texts: pa.Array, rows: int) -> pa.Array:
    return texts.take(pa.array(random.integers(0, len(texts), rows)))


def _timestamps(time_us: Numbers) -> pa.Array:
    return pa.array(time_us).cast(TIMESTAMP)


def _filled(
    random: np.random.Generator,
    stream: str,
    columns: dict[str, pa.Array],
    without: tuple[str, ...] = (),
) -> pa.Table:
    """The table with the column ``extra``, which brings its rows to their average size."""
    rows = len(columns["dateTime"])
    present = np.zeros(rows, np.int64)
    for name, values in columns.items():
        if name in without:
            continue
        text = pa.types.is_string(values.type)
        present += pc.binary_length(values).to_numpy() if text else 8
    return pa.table(columns | {"extra": filler(random, present, _SIZES[stream])})
