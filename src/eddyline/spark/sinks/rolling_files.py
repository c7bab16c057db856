"""Rolling files: the rows of several batches become one file, exactly once.

A file system without transactions can make one file visible at once, but cannot replace several
files by one. So rows wait in the checkpoint until their file is due, and are visible to readers
only then; no file that readers have seen is ever changed::

    pending/SINK/000000000007.arrow   batch 7 ─┐
    pending/SINK/000000000009.arrow   batch 9 ─┴─ roll ──→ PATH/eddyline_batch=9/part-00000.parquet
    pending/SINK/rolled.json          which batches are in the last file

A roll writes ``rolled.json``, then the file, and then deletes what waited. If it is interrupted, it
is repeated as long as all its batches are there; otherwise the file has been written. A batch that
Spark repeats replaces its rows if they wait, and is left out if they are in a file.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from eddyline.errors import StateError
from eddyline.spark.exchange.packed_batches import pack, unpack
from eddyline.spark.formats.format_options import ROLL_BYTES, ROLL_INTERVAL, OptionError
from eddyline.spark.sinks.driver_files import DriverFiles, batch_directory
from eddyline.spark.storage.directory import Directory
from eddyline.sql.durations import parse_duration

#: In the checkpoint, with a directory for each sink.
DIRECTORY: Final = "pending"

_ROLLED: Final = "rolled.json"
_ENDING: Final = ".arrow"
#: What applies if only the other option is set.
_BYTES: Final = 128 << 20
_INTERVAL_US: Final = 60_000_000
#: The driver holds the rows of a file when it writes it.
_MOST_BYTES: Final = 1 << 30


@dataclass(frozen=True)
class RollLimits:
    """When a file is due.

    Attributes:
        interval_s: this time after its first rows. nbytes: when its rows have this size, in memory.
    """

    interval_s: float
    nbytes: int


def roll_limits(label: str, options: Mapping[str, str]) -> RollLimits | None:
    """The limits in the options of a sink; None: each batch is a file of its own.

    Args:
        label: of the target, for messages.

    Raises:
        OptionError: a value is wrong.
    """
    named = {name.lower(): value for name, value in options.items()}
    if named.keys().isdisjoint((ROLL_INTERVAL, ROLL_BYTES)):
        return None
    interval, size = named.get(ROLL_INTERVAL), named.get(ROLL_BYTES, str(_BYTES))
    try:
        us = _INTERVAL_US if interval is None else parse_duration(interval)
        if us <= 0:
            raise ValueError("it has to be longer than 0")
    except ValueError as e:
        raise OptionError(
            f"'{label}': {ROLL_INTERVAL} = '{interval}': {e}", ROLL_INTERVAL, "value"
        ) from None
    if not (size.isascii() and size.isdigit()) or not 1 <= int(size) <= _MOST_BYTES:
        raise OptionError(
            f"'{label}': {ROLL_BYTES} = '{size}' is not a number of bytes from 1 to {_MOST_BYTES}",
            ROLL_BYTES,
            "value",
        )
    return RollLimits(us / 1e6, int(size))


class RollingFiles:
    """The rows of a sink that wait for their file. Batches and a timer may call it from threads.

    Args:
        files: of the sink. pending: directory of the checkpoint, of no other sink.
        clock: in seconds.

    Raises:
        StateError: the file system fails, or the directory was changed.
    """

    def __init__(
        self,
        files: DriverFiles,
        pending: Directory,
        limits: RollLimits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._files = files
        self._pending = pending
        self._limits = limits
        self._most_bytes = min(limits.nbytes, files.most_bytes)
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[int, int] = {}  # bytes by batch
        self._since = 0.0  # when the first of them began to wait
        self._through = -1  # the last batch that is in a file of several
        self._begun: list[int] = []  # the batches of a roll that has begun and not ended
        pending.make()
        self._recover()

    def _recover(self) -> None:
        """Go on with what an earlier start has left."""
        there, rolled = _batches(self._pending), _rolled(self._pending)
        self._through = max(rolled, default=-1)
        if rolled and set(rolled) <= set(there):
            self._write(rolled)
        for batch in there:
            if batch <= self._through:
                self._pending.delete(_name(batch))
            else:
                self._waiting[batch] = _read(self._pending, batch).nbytes
        self._since = self._clock()

    def add(self, batch_id: int, rows: pa.Table) -> None:
        """Let the rows of a batch wait, and write their file if it is due."""
        with self._lock:
            self._finish()
            if batch_id <= self._through:
                return
            self._waiting.pop(batch_id, None)  # of an earlier attempt
            if self._files.exists(batch_directory(batch_id)):  # likewise, written by Spark
                self._roll()
                self._files.write(batch_directory(batch_id), rows)
                return
            if sum(self._waiting.values()) + rows.nbytes > self._most_bytes:
                self._roll()
            if not self._waiting:
                self._since = self._clock()
            self._pending.replace(_name(batch_id), pack(rows))
            self._waiting[batch_id] = rows.nbytes
            self._roll_if_due()

    def make_way(self, batch_id: int) -> bool:
        """Before Spark writes the rows of a batch: those of earlier ones are visible first.

        Returns:
            False: its rows are in a file already.
        """
        with self._lock:
            self._finish()
            if batch_id <= self._through:
                return False
            if self._waiting.pop(batch_id, None) is not None:  # of an earlier attempt
                self._pending.delete(_name(batch_id))
            self._roll()
            return True

    def roll(self) -> None:
        """Write the file of the rows that wait, if there are any."""
        with self._lock:
            self._roll()

    def roll_if_due(self) -> None:
        """Write their file if it is due."""
        with self._lock:
            self._roll_if_due()

    def _roll_if_due(self) -> None:
        self._finish()
        is_old = self._clock() - self._since >= self._limits.interval_s
        if is_old or sum(self._waiting.values()) >= self._most_bytes:
            self._roll()

    def _roll(self) -> None:
        self._finish()
        self._begun = sorted(self._waiting)
        self._finish()

    def _finish(self) -> None:
        """Write the file of a roll that has begun, again after an error: readers may see it."""
        batches = self._begun
        if not batches:
            return
        self._pending.replace(_ROLLED, json.dumps({"batches": batches}).encode())
        self._write(batches)
        self._through, self._begun, self._waiting = batches[-1], [], {}
        for batch in batches:
            self._pending.delete(_name(batch))

    def _write(self, batches: list[int]) -> None:
        rows = pa.concat_tables(_read(self._pending, batch) for batch in batches)
        self._files.write(batch_directory(batches[-1]), rows.unify_dictionaries())


def check_pending(pending: Directory) -> int:
    """Check the rows of a sink that wait; returns the number of their batches.

    Raises:
        StateError: some are damaged.
    """
    through = max(_rolled(pending), default=-1)
    batches = _batches(pending)
    for batch in batches:
        _read(pending, batch)
    return sum(batch > through for batch in batches)


def _batches(pending: Directory) -> list[int]:
    """The batches of which the rows are there."""
    return [int(n.removesuffix(_ENDING)) for n in pending.names("", _ENDING)]


def _rolled(pending: Directory) -> list[int]:
    """The batches of the last file, in order."""
    content = pending.read(_ROLLED)
    if content is None:
        return []
    try:
        return sorted(int(batch) for batch in json.loads(content)["batches"])
    except (ValueError, TypeError, KeyError):
        raise StateError(
            f"{pending.path}/{_ROLLED} cannot be read: restore it from a copy of the checkpoint, "
            "or use another checkpoint"
        ) from None


def _read(pending: Directory, batch: int) -> pa.Table:
    content = pending.read(_name(batch))
    try:
        return unpack(content or b"")
    except (pa.ArrowInvalid, OSError):
        raise StateError(
            f"{pending.path}/{_name(batch)}, with rows that wait for their file, is missing or "
            "damaged: restore it from a copy of the checkpoint"
        ) from None


def _name(batch: int) -> str:
    return f"{batch:012}{_ENDING}"
