"""The control stream: requests to a running job are one more input stream.

It is a directory of small files in the checkpoint, read as a source. So Spark logs which batch
reads which file, and a repeated batch processes the same requests. Their content is kept (see
``control_compaction.py``): a session that starts from the checkpoint reads from it which queries
were added and dropped.

A file of another writer, or one that was modified or truncated, has no effect: Spark reads only
files with the right names, and of these only lines with a correct digest.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from eddyline.errors import SqlError, StateError
from eddyline.spark.batch_time import with_batch_time
from eddyline.spark.control_compaction import folded_files, is_folded
from eddyline.spark.directory import Directory

DIRECTORY: Final = "control"

#: sql-SHARD-NUMBER-ID.json and end-ID.json.
_STATEMENT_FILE: Final = re.compile(r"sql-(\d+)-(\d+)-[0-9a-f]{32}\.json")
_END_FILE: Final = re.compile(r"end-[0-9a-f]{32}\.json")
#: The same for Spark, as a glob pattern.
_FILES: Final = "{sql-*-*-*,end-*}.json"
_SCHEMA: Final = "shard BIGINT, name STRING, text STRING, number BIGINT, digest STRING"

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    """One request to one shard.

    Attributes:
        name: 'sql' (execute the statement ``text``), or 'end' (the input has ended; ``text`` is the
            event time in us by which to advance after the last row).
        number: of the statement for this shard, from 1; 0 for other requests.
        at: when it was sent, in ISO 8601.
    """

    shard: int
    name: str
    text: str
    number: int = 0
    at: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the request; also computed by Spark in ``packed_batches``."""
        content = "\n".join((str(self.shard), self.name, str(self.number), self.text))
        return hashlib.sha256(content.encode()).hexdigest()

    def line(self) -> str:
        """The request as a line of a file."""
        return json.dumps(asdict(self) | {"digest": self.digest})

    @classmethod
    def read(cls, line: str | bytes) -> Request:
        """The request of a line.

        Raises:
            ValueError: the line was not written by :meth:`line`.
        """
        fields: Any = json.loads(line)
        if not isinstance(fields, dict):
            raise ValueError("it is not a JSON object")
        digest = fields.pop("digest", None)
        try:
            request = cls(**fields)
        except TypeError:
            raise ValueError(f"it has the fields {', '.join(fields)}") from None
        if request.digest != digest:
            raise ValueError("its digest is wrong")
        return request


class ControlStream:
    """Requests to shards, kept in a directory of the checkpoint.

    Raises:
        StateError: a request is missing or cannot be read any more.
    """

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        directory.make()
        self._statements: dict[int, int] = {}  # number of statements sent, by shard
        for name in foreign_files(directory):
            _log.warning("%s/%s is ignored: no job wrote it", directory.path, name)
        for request in self.statements():
            self._statements[request.shard] = request.number

    def packed_batches(self, spark: SparkSession) -> DataFrame:
        """The requests as packed batches, for the union with those of the streams."""
        content = F.concat_ws(
            "\n", F.col("shard").cast("string"), "name", F.col("number").cast("string"), "text"
        )
        requests = (
            spark.readStream.schema(_SCHEMA)
            .option("mode", "PERMISSIVE")
            .option("pathGlobFilter", _FILES)
            .option("recursiveFileLookup", "true")  # no partition columns from directories
            .json(self._directory.path)
            .where(F.sha2(content, 256) == F.col("digest"))
        )
        packed = requests.select(
            "shard",
            F.lit("control").alias("kind"),
            "name",
            F.lit(0).cast("bigint").alias("part"),
            F.col("number").alias("seq"),
            F.lit(0).cast("bigint").alias("n"),
            F.encode("text", "UTF-8").alias("blob"),
        )
        return with_batch_time(packed)

    def statements(self) -> list[Request]:
        """All statements sent so far; see :func:`read_statements`."""
        return read_statements(self._directory)

    def by_shard(self) -> dict[int, dict[int, str]]:
        """The texts of all statements: by shard, by number."""
        found: dict[int, dict[int, str]] = {}
        for request in self.statements():
            found.setdefault(request.shard, {})[request.number] = request.text
        return found

    def statement(self, shard: int, text: str) -> Request:
        """The next request to execute a statement; :meth:`send` sends it.

        Raises:
            SqlError: the statement cannot be encoded.
        """
        number = self._statements.get(shard, 0) + 1
        at = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            text.encode()
        except UnicodeEncodeError as e:
            raise SqlError(f"the statement is not text: {e.reason} at character {e.start}") from e
        return Request(shard, "sql", text, number, at)

    def send(self, request: Request) -> None:
        """Send a statement, which the shard executes before the rows of a batch.

        Raises:
            StateError: writing it failed; whether the job receives it is unknown.
        """
        self._write(f"sql-{request.shard}-{request.number}", [request])
        self._statements[request.shard] = request.number

    def end_of_input(self, drain_us: Mapping[int, int]) -> None:
        """Let the shards process the rows held for the watermark, and all expiries.

        Args:
            drain_us: shard to the longest RANGE window of its queries, in microseconds.
        """
        self._write("end", [Request(shard, "end", str(us)) for shard, us in drain_us.items()])

    def _write(self, name: str, requests: list[Request]) -> None:
        lines = "\n".join(request.line() for request in requests)
        self._directory.write(f"{name}-{uuid.uuid4().hex}.json", lines.encode())


def read_statements(directory: Directory) -> list[Request]:
    """All statements sent so far; those of one shard are in order.

    Raises:
        StateError: one is missing or cannot be read.
    """
    by_shard: dict[int, dict[int, Request]] = {}
    unread: dict[tuple[int, int], str] = {}
    folded = folded_files(directory)
    for name in sorted({*directory.names(), *folded}):
        matched = _STATEMENT_FILE.fullmatch(name)
        if matched is None:
            continue
        try:
            request = Request.read(folded.get(name) or directory.read(name) or b"")
        except ValueError as e:
            unread[int(matched[1]), int(matched[2])] = f"{directory.path}/{name}: {e}"
            continue
        by_shard.setdefault(request.shard, {})[request.number] = request
    _require_all(directory.path, by_shard, unread)
    return sorted((r for of in by_shard.values() for r in of.values()), key=lambda r: r.number)


def foreign_files(directory: Directory) -> list[str]:
    """The names of files that were not written by a job."""
    known = (_STATEMENT_FILE, _END_FILE)
    names = [name for name in directory.names() if not is_folded(name)]
    return [n for n in names if not any(form.fullmatch(n) for form in known)]


def _require_all(
    directory: str,
    requests: Mapping[int, Mapping[int, Request]],
    unread: Mapping[tuple[int, int], str],
) -> None:
    """Check that all statements up to the last one of each shard are there.

    Raises:
        StateError: one is missing or unreadable, although its shard may have executed it.
    """
    for shard, number in unread:
        if number not in requests.get(shard, {}):
            raise StateError(
                f"a request to the job cannot be read: {unread[shard, number]}; restore the file "
                "from a copy of the checkpoint, or use another checkpoint"
            )
    for shard, by_number in requests.items():
        for number in range(1, max(by_number) + 1):
            if number not in by_number:
                raise StateError(
                    f"{directory} lacks request {number} to shard {shard}: restore the file "
                    f"'sql-{shard}-{number}-*.json' from a copy of the checkpoint, or use another "
                    "checkpoint"
                )
