"""The options of a stream that name its history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from eddyline.algebra.catalog import ColumnSources, StreamDef
from eddyline.engine.instants import instant_us
from eddyline.errors import DataError
from eddyline.spark.formats.format_options import FILE_FORMATS, OptionError, history_options

#: Formats of histories.
FORMATS: Final = ("parquet", "orc", "csv", "json", "xml", "delta")
#: Options of a history that are not those of its source.
OF_HISTORY: Final = ("until", "batch_rows")
#: Rows of all streams in a batch of history, about.
BATCH_ROWS: Final = 1_000_000


@dataclass(frozen=True)
class History:
    """What is declared of a stream's history.

    Attributes:
        options: of the source with its rows, as for a table: ``source``, ``path`` and so on; None:
            a static DataFrame has them.
        until_us: the seam: the history has the rows before it, the live source the others. None:
            just after the last row of the history.
        from_us: rows before it are not read; None: all are.
        batch_rows: rows of all streams in a batch.
    """

    options: Mapping[str, str] | None
    until_us: int | None = None
    from_us: int | None = None
    batch_rows: int = BATCH_ROWS

    def source(self, stream: StreamDef) -> StreamDef:
        """The stream as it is declared for reading the history."""
        assert self.options is not None, "not of a DataFrame"
        paths = stream.columns.paths if self.options["source"].lower() == "json" else {}
        return replace(stream, options=self.options, columns=ColumnSources(paths, {}))


def declared_history(options: Mapping[str, str]) -> History | None:
    """The history in the options of a stream; None if they name none.

    Raises:
        OptionError: an option is wrong.
    """
    own = history_options(options)
    if not own:
        return None
    until, rows = own.pop("until", None), own.pop("batch_rows", None)
    return History(
        own if "source" in own else None,
        None if until is None else _instant(until),
        batch_rows=BATCH_ROWS if rows is None else _count(rows),
    )


def file_history(options: Mapping[str, str], *, batch_rows: int = BATCH_ROWS) -> History | None:
    """The rows of a stream's source as a history, if it is one of files; otherwise None."""
    format_ = options.get("source", "").lower()
    if format_ not in FILE_FORMATS and format_ != "delta":
        return None
    unlimited = {"maxfilespertrigger", "maxbytespertrigger"}
    kept = {k: v for k, v in options.items() if k.lower() not in unlimited}
    return History(kept, batch_rows=batch_rows)


def _instant(text: str) -> int:
    try:
        return instant_us(text)
    except DataError as e:
        raise OptionError(f"history_until: {e}", "history_until", "value") from None


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise OptionError(
            f"history_batch_rows = '{text}' is not a number of rows from 1",
            "history_batch_rows",
            "value",
        )
    return int(text)
