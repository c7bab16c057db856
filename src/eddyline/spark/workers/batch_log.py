"""The log of a shard: batches in a map of Spark's state, as chunks that are numbered consecutively.

A batch begins a new chunk: 8 bytes (length of the header), the header (JSON), the blobs. So a small
batch is one value, and chunks can be removed without being read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

import pyarrow as pa

from eddyline.errors import StateError

Blob: TypeAlias = bytes | memoryview
#: Largest value in Spark's state.
CHUNK_BYTES: Final = 1 << 18
_LENGTH_BYTES: Final = 8


class MapState(Protocol):
    """The used part of Spark's MapState; keys are (number,), values (blob,)."""

    def getValue(self, key: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The value of a key; None if there is none."""

    def updateValue(self, key: tuple[Any, ...], value: tuple[Any, ...]) -> None:
        """Set the value of a key."""

    def removeKey(self, key: tuple[Any, ...]) -> None:
        """Remove a key."""


class BatchLog:
    """Batches in a map, each as a header and blobs."""

    def __init__(self, chunks: MapState) -> None:
        self._chunks = chunks

    def append(self, number: int, header: Mapping[str, Any], blobs: Sequence[Blob]) -> int:
        """Write a batch; returns the number after its last chunk.

        Args:
            number: of its first chunk. header: serializable as JSON.
        """
        text = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}).encode()
        length = len(text).to_bytes(_LENGTH_BYTES, "little")
        for chunk in chunks_of((length, text, *blobs), CHUNK_BYTES):
            self._chunks.updateValue((number,), (chunk,))
            number += 1
        return number

    def read(self, number: int) -> tuple[dict[str, Any], list[bytes], int]:
        """Header and blobs of the batch with this first chunk, and the number after its last one.

        Raises:
            StateError: a chunk is missing.
        """
        content = bytearray(self._chunk(number))
        number += 1

        def fill(size: int) -> None:
            nonlocal number
            while len(content) < size:
                content.extend(self._chunk(number))
                number += 1

        fill(_LENGTH_BYTES)
        end = _LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES], "little")
        fill(end)
        header = json.loads(bytes(content[_LENGTH_BYTES:end]))
        sizes = header.pop("blobs")
        fill(end + sum(sizes))
        blobs = []
        for size in sizes:
            blobs.append(bytes(memoryview(content)[end : end + size]))
            end += size
        return header, blobs, number

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove chunks."""
        for number in numbers:
            self._chunks.removeKey((number,))

    def _chunk(self, number: int) -> bytes:
        row = self._chunks.getValue((number,))
        if row is None:
            raise StateError(
                f"the checkpoint lacks chunk {number} of a shard's log: was it copied halfway?"
            )
        return bytes(row[0])


class PassedLog(BatchLog):
    """The log, in a worker to which a batch was passed.

    Args:
        log: the :class:`LogOfBatch` of the task; calls of its methods are sent to the other worker.
    """

    def __init__(self, log: Any) -> None:
        self._log = log

    def append(self, number: int, header: Mapping[str, Any], blobs: Sequence[Blob]) -> int:
        """See ``BatchLog``; ``blobs`` are those that were passed."""
        end: int = self._log.append(number, header)
        return end

    def read(self, number: int) -> tuple[dict[str, Any], list[bytes], int]:
        raise AssertionError("an engine that has all batches reads none")

    def remove(self, numbers: Iterable[int]) -> None:
        """See ``BatchLog``."""
        self._log.remove(numbers)


class LogOfBatch:
    """The log, in the worker of a task that passes a batch on.

    Args:
        blobs: of the batch; so they are not sent back.
    """

    def __init__(self, log: BatchLog, blobs: Sequence[Blob]) -> None:
        self._log = log
        self._blobs = blobs

    def append(self, number: int, header: Mapping[str, Any]) -> int:
        """Write the batch; see ``BatchLog.append``."""
        return self._log.append(number, header, self._blobs)

    def remove(self, numbers: Iterable[int]) -> None:
        """See ``BatchLog``."""
        self._log.remove(numbers)


def chunks_of(parts: Iterable[Blob | pa.Buffer], size: int) -> Iterator[bytes]:
    """The concatenated parts in chunks of ``size`` bytes, the last one shorter."""
    chunk = bytearray()
    for part in parts:
        start, view = 0, memoryview(part)
        while start < len(view):
            end = start + size - len(chunk)
            chunk += view[start:end]
            start = end
            if len(chunk) == size:
                yield bytes(chunk)
                chunk.clear()
    if chunk:
        yield bytes(chunk)
