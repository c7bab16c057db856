"""A job that runs in another process, reached through its checkpoint (``eddyline.spark.desk``)."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyarrow import fs

from eddyline import errors
from eddyline.cli.failures import JobFailedError
from eddyline.errors import CatalogError, DataError, EddylineError, StateError, did_you_mean
from eddyline.spark.desk import DIRECTORY, ROWS_MADE, SIGN_OF_LIFE_S
from eddyline.spark.fatrows import unpack

#: A job that was silent for so long is taken for dead.
_SILENT_S: Final = 4 * SIGN_OF_LIFE_S
_POLL_S: Final = 0.1
_LOOK_S: Final = 2.0


@dataclass(frozen=True)
class Status:
    """What a job last said of itself.

    Attributes:
        state: 'running', 'ended', or 'silent' where it has gone without saying so.
        at: when it said so.
        progress: see ``eddyline.spark.run.Progress``.
        queries: name, since, sink and SQL of each standing query.
        stats: by query the engine's accounts, whatever they are.
    """

    state: str
    at: datetime
    progress: dict[str, Any]
    queries: list[dict[str, str]]
    stats: dict[str, dict[str, Any]]

    def query(self, name: str) -> dict[str, str]:
        """The entry of a query.

        Raises:
            CatalogError: there is none of this name.
        """
        for query in self.queries:
            if query["name"].lower() == name.lower():
                return query
        names = [q["name"] for q in self.queries]
        raise CatalogError(f"there is no query '{name}'; {did_you_mean(name, names)}")


@dataclass(frozen=True)
class Answer:
    """What became of a request: the queries that came or went, and what was wrong then, if so."""

    done: list[str]
    error: EddylineError | None

    @classmethod
    def read(cls, content: bytes) -> Answer:
        """The answer as the desk writes it."""
        said = json.loads(content)
        if "error" not in said:
            return cls(said["done"], None)
        kind = getattr(errors, said["error"], EddylineError)
        return cls(said["done"], kind(said["message"]))


class RunningJob:
    """The desk of a job, seen from outside.

    Args:
        checkpoint: the job's, as a path of this machine or a URI that Arrow knows (``s3://...``).

    Raises:
        DataError: there is no such place.
    """

    def __init__(self, checkpoint: str) -> None:
        self._checkpoint = checkpoint
        try:
            if "://" in checkpoint:
                self._files, path = fs.FileSystem.from_uri(checkpoint.replace("s3a://", "s3://"))
            else:
                self._files = fs.LocalFileSystem()
                path = str(Path(checkpoint.removeprefix("file:")).absolute())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as e:
            raise DataError(f"the checkpoint '{checkpoint}' cannot be reached: {e}") from None
        self._desk = f"{path}/{DIRECTORY}"

    def status(self) -> Status:
        """What the job last said of itself; it may have ended since long.

        Raises:
            StateError: no job has run there that could be reached.
        """
        text = self._read("status.json")
        if text is None and self._names("", "requests"):  # a file may be gone while it is replaced
            time.sleep(_POLL_S)
            text = self._read("status.json")
        if text is None:
            raise StateError(
                f"there is no job in '{self._checkpoint}': give the checkpoint of a job that was "
                "started with one, as in `eddyline run FILE.sql --continuous --checkpoint DIR`"
            )
        said = json.loads(text)
        at = datetime.fromisoformat(said["at"])
        silent = (datetime.now(UTC) - at).total_seconds() > _SILENT_S
        state = "silent" if silent and said["state"] == "running" else said["state"]
        return Status(state, at, said["progress"], said["queries"], said["stats"])

    def running(self) -> Status:
        """The status of a job that runs.

        Raises:
            StateError: it does not run.
        """
        status = self.status()
        if status.state != "running":
            raise StateError(f"the job does not run: {state_of(status)}")
        return status

    def ask(self, sql: str, patience_s: float) -> Answer:
        """Let the job carry out CREATE QUERY and DROP QUERY statements.

        Args:
            sql: one statement or more.
            patience_s: how long to wait until the job begins.

        Raises:
            JobFailedError: there was no answer.
        """
        self.running()
        name = f"{time.time_ns():020}-{uuid.uuid4().hex[:8]}.json"
        self._write(f"requests/{name}", json.dumps({"sql": sql}))
        answer = self._answer(name, patience_s)
        if answer is None and self._take(f"requests/{name}") is not None:
            raise JobFailedError(
                f"the job did not answer for {patience_s:g} s; the request is withdrawn"
            )
        while answer is None:  # it has begun with it
            running = self.status().state == "running"
            answer = self._answer(name, _LOOK_S)
            if answer is None and not running:
                raise JobFailedError(
                    "the job began with the request and ended; `eddyline list` shows its queries "
                    "when it is started again"
                )
        return answer

    def follow(self, query: str) -> Generator[tuple[pa.Table, int], None, None]:
        """The results of a query as they are delivered, until the job ends or drops the query.

        Yields:
            For each batch with results the first of them, and how many there were. Before that,
            when following has begun, an empty table.
        """
        tail = f"tails/{uuid.uuid4().hex}"
        self._write(f"{tail}/query.json", json.dumps({"query": query}))
        looked = time.monotonic()
        running = True
        try:
            while running and self._names(tail, ".json"):
                arrived = self._names(tail, ".arrow")
                for name in arrived:
                    content = self._take(f"{tail}/{name}")
                    if content is not None:
                        rows = unpack(content)
                        yield rows, int(rows.schema.metadata[ROWS_MADE])
                if not arrived and time.monotonic() - looked > _LOOK_S:
                    looked = time.monotonic()
                    running = self.status().state == "running"
                time.sleep(_POLL_S)
        finally:
            with suppress(FileNotFoundError):
                self._files.delete_dir(f"{self._desk}/{tail}")

    def _answer(self, name: str, patience_s: float) -> Answer | None:
        until = time.monotonic() + patience_s
        while time.monotonic() < until:
            content = self._take(f"answers/{name}")
            if content is not None:
                return Answer.read(content)
            time.sleep(_POLL_S)
        return None

    # -- files of the desk -----------------------------------------------------------------------

    def _names(self, directory: str, ending: str) -> list[str]:
        selector = fs.FileSelector(f"{self._desk}/{directory}", allow_not_found=True)
        found = (f.base_name for f in self._files.get_file_info(selector))
        return sorted(n for n in found if n.endswith(ending) and not n.startswith("."))

    def _read(self, name: str) -> bytes | None:
        try:
            with self._files.open_input_stream(f"{self._desk}/{name}") as stream:
                content: bytes = stream.read()
                return content
        except FileNotFoundError:
            return None

    def _take(self, name: str) -> bytes | None:
        """The content of a file, which is deleted; None if it is not there, or no more."""
        content = self._read(name)
        try:
            if content is not None:
                self._files.delete_file(f"{self._desk}/{name}")
        except FileNotFoundError:
            return None
        return content

    def _write(self, name: str, text: str) -> None:
        """Write a file so that the job sees all of it or nothing."""
        directory, _, last = name.rpartition("/")
        hidden = f"{self._desk}/{directory}/.{last}.tmp"
        self._files.create_dir(f"{self._desk}/{directory}")
        with self._files.open_output_stream(hidden) as stream:
            stream.write(text.encode())
        self._files.move(hidden, f"{self._desk}/{name}")


def state_of(status: Status) -> str:
    """A few words on whether the job runs."""
    words = {"running": "running, as of", "ended": "it ended at", "silent": "it was last seen at"}
    return f"{words[status.state]} {status.at:%Y-%m-%d %H:%M:%S}"
