"""A batch is processed by the Python worker that has the engine of its shard.

Spark gives a task the worker that has been idle for the longest time. If that one has not the
engine, it passes the batch to the worker that has it, over a Unix socket::

    Spark -- rows, state --> worker of the task -- batch, values of state --> worker with the engine
    Spark <---- frames ----- worker of the task <---- frames, state calls --- worker with the engine

So each batch is processed once, and each engine is in the memory of one worker. The address of the
socket is in the shard's commit record. Large blobs are passed as shared memory.

Only on Linux: the names of the sockets are abstract, so a worker that is killed leaves no file, and
each end checks that the other one belongs to the same user. Elsewhere, and between workers of
different executors, no batch is passed on.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import secrets
import socket
import struct
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from typing import Any, Final, Protocol

import pandas as pd

_AVAILABLE: Final = sys.platform == "linux"
#: Of SO_PEERCRED: process, user, group.
_CREDENTIALS: Final = struct.Struct("3i")
#: Blobs of at least this size are passed as shared memory; they begin at multiples of _ALIGNED.
_LARGE: Final = 1 << 20
_ALIGNED: Final = 64


class PassedBatch(Protocol):
    """A batch that can be passed on; it can be pickled.

    What is passed on between workers may have ``memoryview`` instead of large ``bytes``.
    """

    def frames(self, states: Sequence[Any]) -> Iterator[pd.DataFrame] | None:
        """In the worker with the engine: process the batch.

        Args:
            states: the state variables of the task.

        Returns:
            The output; None if this worker has not the engine.
        """


@cache
def address() -> str:
    """Where this worker accepts batches, from now on; empty where that is not possible."""
    if not _AVAILABLE:
        return ""
    name = f"{_of_executor()}{secrets.token_hex(8)}"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind("\0" + name)
    listener.listen()
    threading.Thread(target=_accept, args=(listener,), name="passed batches", daemon=True).start()
    return name


def passed_on(
    to: str, batch: PassedBatch, states: Sequence[Any]
) -> Generator[pd.DataFrame, None, bool]:
    """The frames of a batch that the worker with this address processes.

    Returns:
        Whether it did. If not, no frame was yielded, and the state was not changed.

    Raises:
        ConnectionError: the other worker ended before all frames were there.
        Exception: what the other worker raised.
    """
    connection = _connected(to)
    if connection is None:
        return False
    with connection:
        try:
            _send(connection, batch)
            message = _received(connection)  # as (kind, content)
        except (EOFError, ConnectionError):
            return False
        while True:
            kind, content = message
            if kind == "frame":
                yield content
            elif kind == "call":
                number, method, arguments = content
                _send(connection, _called(states[number], method, arguments))
            elif kind == "error":
                raise content
            else:
                return bool(kind == "done")
            try:
                message = _received(connection)
            except EOFError as e:
                raise ConnectionError("the Python worker with the shard's engine has ended") from e


def _of_executor() -> str:
    """The beginning of the addresses of an executor's workers: they have the same parent."""
    return f"eddyline-{os.getppid()}-"


def _connected(to: str) -> Connection | None:
    """A connection to a worker of the same executor and user; None if there is no such worker."""
    if not _AVAILABLE or not to.startswith(_of_executor()):
        return None
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        end.connect("\0" + to)
    except OSError:
        end.close()
        return None
    return _checked(end)


def _checked(end: socket.socket) -> Connection | None:
    """The connection, if its other end belongs to the same user; otherwise it is closed."""
    credentials = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, user, _ = _CREDENTIALS.unpack(credentials)
    if user != os.geteuid():
        end.close()
        return None
    return Connection(end.detach())


def _accept(listener: socket.socket) -> None:
    while True:
        end, _ = listener.accept()
        connection = _checked(end)
        if connection is not None:
            threading.Thread(target=_serve, args=(connection,), daemon=True).start()


def _serve(connection: Connection) -> None:
    """Process the batch that comes over a connection."""
    with connection, suppress(EOFError, ConnectionError):  # the task has ended
        batch: PassedBatch = _received(connection)
        try:
            frames = batch.frames([_RemoteState(connection, number) for number in range(3)])
            if frames is None:
                _send(connection, ("declined", None))
                return
            for frame in frames:
                _send(connection, ("frame", frame))
        except Exception as error:  # the worker of the task raises it
            _send(connection, ("error", _picklable(error)))
        else:
            _send(connection, ("done", None))


class _RemoteState:
    """A state variable of the task; its methods are called in the task's worker."""

    def __init__(self, connection: Connection, number: int) -> None:
        self._connection = connection
        self._number = number

    def __getattr__(self, method: str) -> Any:
        return partial(self._call, method)

    def _call(self, method: str, *arguments: Any) -> Any:
        _send(self._connection, ("call", (self._number, method, arguments)))
        result, error = _received(self._connection)
        if error is not None:
            raise error
        return result


def _called(state: Any, method: str, arguments: Sequence[Any]) -> tuple[Any, Exception | None]:
    """The result of a call of a state variable, or its error."""
    try:
        result = getattr(state, method)(*arguments)
        return (result if isinstance(result, tuple | int | None) else list(result)), None
    except Exception as error:  # the worker of the engine raises it
        return None, _picklable(error)


# -- messages ----------------------------------------------------------


class _Pickler(pickle.Pickler):
    """Leaves out large blobs, and collects them."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.blobs: list[bytes | memoryview] = []

    def persistent_id(self, obj: Any) -> int | None:
        if not isinstance(obj, bytes | memoryview) or len(obj) < _LARGE:
            return None
        self.blobs.append(obj)
        return len(self.blobs) - 1


class _Unpickler(pickle.Unpickler):
    """Takes the blobs that were left out from others."""

    def __init__(self, file: io.BytesIO, blobs: Sequence[memoryview]) -> None:
        super().__init__(file)
        self._blobs = blobs

    def persistent_load(self, pid: Any) -> memoryview:
        return self._blobs[int(pid)]


def _send(connection: Connection, message: object) -> None:
    """Send a message: its pickle, and a file in memory with the large blobs, if there are any."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(message)
    connection.send((file.getvalue(), [len(blob) for blob in pickler.blobs]))
    if pickler.blobs:
        with open(os.memfd_create("eddyline"), "wb") as memory:
            for blob in pickler.blobs:
                memory.write(blob)
                memory.write(bytes(-len(blob) % _ALIGNED))
            memory.flush()
            send_handle(connection, memory.fileno(), None)


def _received(connection: Connection) -> Any:
    """The next message.

    Raises:
        EOFError: the other end has been closed.
    """
    text, sizes = connection.recv()
    blobs = []
    if sizes:
        handle = recv_handle(connection)
        memory = memoryview(mmap.mmap(handle, 0, prot=mmap.PROT_READ))
        os.close(handle)
        start = 0
        for size in sizes:
            blobs.append(memory[start : start + size])
            start += size + -size % _ALIGNED
    return _Unpickler(io.BytesIO(text), blobs).load()


def _picklable(error: Exception) -> Exception:
    """The error, or one with its text if it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # of its own methods
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
