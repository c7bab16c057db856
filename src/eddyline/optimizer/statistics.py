"""Statistics of inputs, declared or measured, with default guesses."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import pyarrow as pa

K = TypeVar("K")

#: Guessed rows per second of a stream.
DEFAULT_RATE: Final = 1_000.0
#: Guessed rows of a table.
DEFAULT_TABLE_ROWS: Final = 10_000.0
#: Guessed rows per second that are added to, and removed from, a changing table.
DEFAULT_TABLE_RATE: Final = 1.0
#: Guessed distinct values of a column of a stream.
DEFAULT_VALUES: Final = 1_000.0


@dataclass(frozen=True)
class Statistics:
    """Rates, sizes and numbers of values of streams and tables.

    Missing numbers are guessed by the constants of this module.

    Args:
        rates: rows per second, by stream; for a changing table the rows added per second.
        table_rows: number of rows, by table.
        values: number of distinct values in the long run (not only within a window), by
            (stream or table, column).
        corrections: results of joins as a multiple of the estimate, as of ``JoinResults``.
        age_s: seconds for which there have been rows: windows hold no older ones.

    Raises:
        ValueError: a number is negative or not finite, or a number of values is below 1.

    >>> known = Statistics(rates={"trades": 50.0}, values={("trades", "symbol"): 300})
    >>> known.rate("trades"), known.rate("quotes")
    (50.0, 1000.0)
    """

    rates: Mapping[str, float] = field(default_factory=dict)
    table_rows: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[tuple[str, str], float] = field(default_factory=dict)
    corrections: Mapping[Any, float] = field(default_factory=dict)
    age_s: float = math.inf

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
        """For JSON, without what is learned from running queries."""
        return {
            "rates": dict(self.rates),
            "table_rows": dict(self.table_rows),
            "values": [[*names, number] for names, number in self.values.items()],
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Statistics:
        """The inverse of ``as_dict``."""
        values = {(source, column): number for source, column, number in given["values"]}
        return cls(given["rates"], given["table_rows"], values)

    def over(self, other: Statistics) -> Statistics:
        """These numbers, with the other's where these are missing; a view of both.

        >>> Statistics(rates={"a": 1.0}).over(Statistics(rates={"a": 2.0, "b": 2.0})).rate("b")
        2.0
        """
        return Statistics(
            _over(self.rates, other.rates),
            _over(self.table_rows, other.table_rows),
            _over(self.values, other.values),
            _over(self.corrections, other.corrections),
            min(self.age_s, other.age_s),
        )

    def correction(self, join: Hashable, pairs: Hashable) -> float:
        """What to multiply the estimated results of a join with.

        Args:
            pairs: the columns that it compares; None: not known.
        """
        if not self.corrections:
            return 1.0
        return self.corrections.get(join, self.corrections.get(pairs, 1.0))

    def rate(self, stream: str) -> float:
        """Rows per second of a stream."""
        return self.rates.get(stream, DEFAULT_RATE)

    def table_rate(self, table: str) -> float:
        """Rows per second added to a changing table; as many are removed from it."""
        return self.rates.get(table, DEFAULT_TABLE_RATE)

    def rows(self, table: str) -> float:
        """Number of rows of a table."""
        return self.table_rows.get(table, DEFAULT_TABLE_ROWS)

    def stream_values(self, stream: str, column: str, type_: pa.DataType) -> float:
        """Distinct values of a stream's column; infinite for timestamps, which never repeat."""
        guess = math.inf if pa.types.is_timestamp(type_) else values_of_type(type_)
        return self.values.get((stream, column), guess)

    def table_values(self, table: str, column: str, type_: pa.DataType) -> float:
        """Distinct values of a table's column; by default, one per row."""
        guess = 2.0 if pa.types.is_boolean(type_) else max(1.0, self.rows(table))
        return self.values.get((table, column), guess)


def _over(first: Mapping[K, float], then: Mapping[K, float]) -> Mapping[K, float]:
    return ChainMap(first, then)  # type: ignore[arg-type]  # it is only read


#: Statistics without any number.
UNKNOWN: Final = Statistics()


def values_of_type(type_: pa.DataType) -> float:
    """The guess for a column, by its type."""
    return 2.0 if pa.types.is_boolean(type_) else DEFAULT_VALUES
