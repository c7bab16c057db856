"""The rows of a soak: a tick is a second of event time, and its rows follow from its number.

So the feeder makes them while the job runs, and the check makes the same rows again afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from eddyline.types import TIMESTAMP

#: Of each stream in a tick; a millisecond of event time apart.
ROWS: Final = 1_000
#: Messages of a tick that are no JSON.
BAD_ROWS: Final = 5
SYMBOLS: Final = 100
PRICES: Final = 1_000
_ACCOUNTS: Final = 5_000
_RULES: Final = 200
#: 2026, in milliseconds.
_BEGIN_MS: Final = 1_767_225_600_000
_QUOTE_SHIFT_US: Final = 500
_TRADES, _QUOTES = 0, 1


def trades(tick: int) -> pa.Table:
    """The rows of a tick, out of order: id, symbol, account, price, qty, ms."""
    rng, ms = _tick(tick, _TRADES)
    return pa.table(
        {
            "id": ms - _BEGIN_MS,
            "symbol": _symbols(rng),
            "account": rng.integers(0, _ACCOUNTS, ROWS),
            "price": rng.integers(0, PRICES, ROWS),
            "qty": rng.integers(1, 101, ROWS),
            "ms": ms,
        }
    )


def quotes(tick: int) -> pa.Table:
    """The rows of a tick, out of order: ts, symbol, bid. No trade has one of their timestamps."""
    rng, ms = _tick(tick, _QUOTES)
    ts = pa.array(ms * 1_000 + _QUOTE_SHIFT_US).cast(TIMESTAMP)
    return pa.table({"ts": ts, "symbol": _symbols(rng), "bid": rng.integers(0, PRICES, ROWS)})


def messages(rows: pa.Table) -> list[str]:
    """Trades as JSON, and some messages that are none."""
    found: list[str] = _json(rows).to_pylist()
    return found + [f"not {i}" for i in range(BAD_ROWS)]


def rules() -> pa.Table:
    """Two rules of each symbol: id, symbol, threshold."""
    rng = np.random.default_rng(1)
    number = np.arange(_RULES)
    return pa.table(
        {
            "id": number,
            "symbol": _names(number % SYMBOLS),
            "threshold": rng.integers(PRICES * 9 // 10, PRICES, _RULES),
        }
    )


def write_quotes(folder: Path, tick: int) -> None:
    """Write the quotes of a tick as a file, which a reader sees whole or not at all."""
    hidden = folder / f"_{tick:06}.parquet"
    pq.write_table(quotes(tick), hidden)
    hidden.rename(folder / hidden.name[1:])


def symbol(number: int) -> str:
    """The name of a symbol."""
    return f"S{number % SYMBOLS:02}"


def _tick(tick: int, stream: int) -> tuple[np.random.Generator, np.ndarray[Any, np.dtype[Any]]]:
    rng = np.random.default_rng((tick, stream))
    return rng, _BEGIN_MS + tick * ROWS + rng.permutation(ROWS)


def _symbols(rng: np.random.Generator) -> pa.Array:
    return _names(rng.integers(0, SYMBOLS, ROWS))


def _names(numbers: Sequence[int] | np.ndarray[Any, np.dtype[Any]]) -> pa.Array:
    return pa.array([symbol(i) for i in range(SYMBOLS)]).take(pa.array(numbers))


def _json(rows: pa.Table) -> pa.Array:
    parts: list[Any] = []
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        quote = '"' if name == "symbol" else ""
        text = column.cast(pa.string()).combine_chunks()
        parts += [f'{"," if parts else "{"}"{name}":{quote}', text, quote]
    return pc.binary_join_element_wise(*parts, "}", "")
