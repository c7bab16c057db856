"""What is known of the inputs before and while queries run; stated guesses where nothing is."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import pyarrow as pa

K = TypeVar("K")

#: Rows per second of a stream of which nothing is known.
DEFAULT_RATE: Final = 1_000.0
#: Rows of a table of which nothing is known.
DEFAULT_TABLE_ROWS: Final = 10_000.0
#: Rows per second that are added to a changing table, and that are taken from it.
DEFAULT_TABLE_RATE: Final = 1.0
#: Values that a column of a stream takes of which nothing is known: between a flag and a key.
DEFAULT_VALUES: Final = 1_000.0


@dataclass(frozen=True)
class Statistics:
    """Rates, sizes and numbers of values of streams and tables.

    What is left out is guessed by the constants of this module.

    Args:
        rates: rows per second, by stream; for a changing table the rows added per second.
        table_rows: how many rows a table holds, by table.
        values: how many values a column takes in the long run (not only within a window), by
            (stream or table, column).

    Raises:
        ValueError: a number is negative, not finite, or there are less than one value.

    >>> known = Statistics(rates={"trades": 50.0}, values={("trades", "symbol"): 300})
    >>> known.rate("trades"), known.rate("quotes")
    (50.0, 1000.0)
    """

    rates: Mapping[str, float] = field(default_factory=dict)
    table_rows: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for what, least, numbers in (
            ("rates", 0, self.rates),
            ("table_rows", 0, self.table_rows),
            ("values", 1, self.values),
        ):
            for name, number in numbers.items():
                if not (math.isfinite(number) and number >= least):
                    raise ValueError(f"{what} of {name!r} must be at least {least}, not {number}")

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "rates": dict(self.rates),
            "table_rows": dict(self.table_rows),
            "values": [[*names, number] for names, number in self.values.items()],
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Statistics:
        """What ``as_dict`` returned."""
        values = {(source, column): number for source, column, number in given["values"]}
        return cls(given["rates"], given["table_rows"], values)

    def over(self, other: Statistics) -> Statistics:
        """What is known here, and of what is not, what the other one knows; follows both.

        >>> Statistics(rates={"a": 1.0}).over(Statistics(rates={"a": 2.0, "b": 2.0})).rate("b")
        2.0
        """
        return Statistics(
            _over(self.rates, other.rates),
            _over(self.table_rows, other.table_rows),
            _over(self.values, other.values),
        )

    def rate(self, stream: str) -> float:
        """Rows per second of a stream."""
        return self.rates.get(stream, DEFAULT_RATE)

    def table_rate(self, table: str) -> float:
        """Rows per second added to a changing table; as many are taken from it."""
        return self.rates.get(table, DEFAULT_TABLE_RATE)

    def rows(self, table: str) -> float:
        """Rows that a table holds."""
        return self.table_rows.get(table, DEFAULT_TABLE_ROWS)

    def stream_values(self, stream: str, column: str, type_: pa.DataType) -> float:
        """Values that a column of a stream takes; infinite for timestamps, which never repeat."""
        guess = math.inf if pa.types.is_timestamp(type_) else values_of_type(type_)
        return self.values.get((stream, column), guess)

    def table_values(self, table: str, column: str, type_: pa.DataType) -> float:
        """Values that a column of a table takes: unless said otherwise, every row has its own."""
        guess = 2.0 if pa.types.is_boolean(type_) else max(1.0, self.rows(table))
        return self.values.get((table, column), guess)


def _over(first: Mapping[K, float], then: Mapping[K, float]) -> Mapping[K, float]:
    return ChainMap(first, then)  # type: ignore[arg-type]  # nobody writes to it


#: The statistics of those who have none.
UNKNOWN: Final = Statistics()


def values_of_type(type_: pa.DataType) -> float:
    """The guess for a column of which only the type is known."""
    return 2.0 if pa.types.is_boolean(type_) else DEFAULT_VALUES
