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
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from eddyline.errors import SqlError, StateError
from eddyline.spark.storage.control_compaction import (
    FoldingNow,
    is_folded,
    is_question,
    request_files,
)
from eddyline.spark.storage.directory import Directory

DIRECTORY: Final = "control"

#: Name of a request that is the record of a layout, and says nothing to its shard.
LAYOUT: Final = "layout"
#: Name of a request for a part of an answer. It changes nothing, and its file is deleted.
ASK: Final = "ask"

#: sql-GROUP-NUMBER-ID.json, with a line for each shard of the group, end-ID.json and ask-ID.json.
_STATEMENT_FILE: Final = re.compile(r"sql-(\d+)-(\d+)-[0-9a-f]{32}\.json")
_END_FILE: Final = re.compile(r"end-[0-9a-f]{32}\.json")
#: The same for Spark, as a glob pattern.
_FILES: Final = "{sql-*-*-*,end-*,ask-*}.json"
_SCHEMA: Final = "shard BIGINT, name STRING, text STRING, number BIGINT, digest STRING"

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    """One request to one shard.

    Attributes:
        name: 'sql' (execute the statement ``text``, which may also be an :func:`aside_note`, a
            :func:`reads_note`, a :func:`hand_over_note` or a :func:`cores_note`), 'end' (the input
            has ended; ``text`` is the event time in us by which to advance after the last row),
            LAYOUT (``text`` is the record of the layout that begins for the statement of the same
            number), or ASK (``text`` is a :class:`Question`).
        number: of the statement for the group of shards, from 1; 0 for other requests.
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

    All shards of a group get the same statements in the same batches, so that their clocks stay
    equal; what a statement is to those that it does not concern is up to the sender.

    Args:
        spark: Spark's part of the checkpoint, of a job that runs: files that were read are folded.

    Raises:
        StateError: a request is missing or cannot be read any more.
    """

    def __init__(self, directory: Directory, spark: Directory | None = None) -> None:
        self._directory = directory
        self._fold = None if spark is None else FoldingNow(directory, spark)
        directory.make()
        self._statements: dict[int, int] = {}  # number of statements sent, by group
        for name in foreign_files(directory):
            _log.warning("%s/%s is ignored: no job wrote it", directory.path, name)
        for (group, number), _ in _read_all(directory):
            self._statements[group] = number

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
        return requests.select(
            "shard",
            F.lit("control").alias("kind"),
            "name",
            F.lit(0).cast("bigint").alias("part"),
            F.col("number").alias("seq"),
            F.lit(0).cast("bigint").alias("n"),
            F.encode("text", "UTF-8").alias("blob"),
        )

    def statements(self) -> list[SentStatement]:
        """All statements sent so far; see :func:`read_statements`."""
        return read_statements(self._directory)

    def by_shard(self) -> dict[int, dict[int, str]]:
        """The texts of all statements: by shard, by number."""
        found: dict[int, dict[int, str]] = {}
        for _, requests in _read_all(self._directory):
            for request in requests:
                if request.name != LAYOUT:
                    found.setdefault(request.shard, {})[request.number] = request.text
        return found

    def sent(self, group: int) -> int:
        """Number of statements sent to a group of shards."""
        return self._statements.get(group, 0)

    def statement(self, group: int, texts: Mapping[int, str]) -> list[Request]:
        """The next requests to a group of shards; :meth:`send` sends them.

        Args:
            texts: by shard, for each of the group; the first is the statement.

        Raises:
            SqlError: the statement cannot be encoded.
        """
        number = self.sent(group) + 1
        at = datetime.now(UTC).isoformat(timespec="seconds")
        for text in dict.fromkeys(texts.values()):
            try:
                text.encode()
            except UnicodeEncodeError as e:
                why = f"{e.reason} at character {e.start}"
                raise SqlError(f"the statement is not text: {why}") from e
        return [Request(shard, "sql", text, number, at) for shard, text in texts.items()]

    def send(self, group: int, requests: list[Request]) -> None:
        """Send a statement, which the shards execute before the rows of one batch.

        Raises:
            StateError: writing it failed; whether the job receives it is unknown.
        """
        self._write(f"sql-{group}-{requests[0].number}", requests)
        self._statements[group] = requests[0].number
        if self._fold is not None:
            self._fold()

    def end_of_input(self, drain_us: Mapping[int, int]) -> None:
        """Let the shards process the rows held for the watermark, and all expiries.

        Args:
            drain_us: shard to how long its queries may have results after its last row, in
                microseconds.
        """
        self._write("end", [Request(shard, "end", str(us)) for shard, us in drain_us.items()])

    def ask(self, question: str, texts: Mapping[int, str]) -> None:
        """Ask shards something, with one of the next batches.

        Args:
            question: its id, a UUID in hexadecimal digits. texts: by shard.
        """
        lines = [Request(shard, ASK, text).line() for shard, text in texts.items()]
        self._directory.write(f"ask-{question}.json", "\n".join(lines).encode())

    def forget(self, question: str) -> None:
        """Delete a question, which no batch reads again."""
        self._directory.delete(f"ask-{question}.json")

    def _write(self, name: str, requests: list[Request]) -> None:
        lines = "\n".join(request.line() for request in requests)
        self._directory.write(f"{name}-{uuid.uuid4().hex}.json", lines.encode())


@dataclass(frozen=True)
class Question:
    """Asks a shard for its part of an answer.

    Attributes:
        id: of the question. query: None: the shard has no part, but only runs in the same batch as
            the others of its group.
    """

    id: str
    query: str | None

    def text(self) -> str:
        """For :meth:`read`."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Question:
        """The question of a request."""
        return cls(**json.loads(text))


def aside_note(query: str, cause: str) -> str:
    """Lets shards set a query aside, as another one has done."""
    return json.dumps({"set_aside": query, "cause": cause})


def reads_note(streams: Iterable[str], statement: str = "") -> str:
    """Tells shards which streams the queries of other layouts of their group read.

    Args:
        statement: to execute, too.
    """
    return json.dumps({"read_elsewhere": sorted(streams), "sql": statement})


def hand_over_note(tables: Iterable[str]) -> str:
    """Asks a shard for the content of tables that change, after the batch."""
    return json.dumps({"hand_over": sorted(tables)})


def cores_note(group: int, cores: float, shards: int) -> str:
    """Tells a group's engines how many CPU cores each has, with this number of shards side by side.

    Args:
        group: as of :meth:`ControlStream.send`.
    """
    return json.dumps({"group": group, "cores": cores, "shards": shards})


def note_of(text: str) -> dict[str, Any] | None:
    """The content of a note; None for a statement."""
    if not text.startswith("{"):
        return None
    fields: dict[str, Any] = json.loads(text)
    return fields


def layout_request(statement: Request, record: str) -> Request:
    """The record of the layout that begins for a statement."""
    return Request(statement.shard, LAYOUT, record, statement.number, statement.at)


@dataclass(frozen=True)
class SentStatement:
    """A statement that was sent.

    Attributes:
        text, at: as of :class:`Request`.
        layout: the record of the layout that begins for it; None: it needs no other layout.
    """

    text: str
    at: str
    number: int
    layout: str | None = None


def read_statements(directory: Directory) -> list[SentStatement]:
    """All statements sent so far, without what they are to the shards that they do not concern;
    those of one group are in order.

    Raises:
        StateError: one is missing or cannot be read.
    """
    found = []
    for _, (first, *others) in _read_all(directory):
        layout = next((request.text for request in others if request.name == LAYOUT), None)
        found.append(SentStatement(first.text, first.at, first.number, layout))
    return found


def _read_all(directory: Directory) -> list[tuple[tuple[int, int], list[Request]]]:
    """By (group, number), in order of the numbers: what was sent to the shards."""
    found: dict[tuple[int, int], list[Request]] = {}
    unread: dict[tuple[int, int], str] = {}
    for name, content in sorted(request_files(directory, _STATEMENT_FILE).items()):
        matched = _STATEMENT_FILE.fullmatch(name)
        if matched is None:
            continue
        key = (int(matched[1]), int(matched[2]))
        try:
            found[key] = [Request.read(line) for line in content.split(b"\n")]
        except ValueError as e:
            unread[key] = f"{directory.path}/{name}: {e}"
    _require_all(directory.path, found.keys(), unread)
    return sorted(found.items(), key=lambda item: item[0][1])


def foreign_files(directory: Directory) -> list[str]:
    """The names of files that were not written by a job."""
    known = (_STATEMENT_FILE, _END_FILE)
    names = [n for n in directory.names() if not is_folded(n) and not is_question(n)]
    return [n for n in names if not any(form.fullmatch(n) for form in known)]


def _require_all(
    directory: str,
    found: Collection[tuple[int, int]],
    unread: Mapping[tuple[int, int], str],
) -> None:
    """Check that all statements up to the last one of each group are there.

    Raises:
        StateError: one is missing or unreadable, although its shards may have executed it.
    """
    for key in unread:
        if key not in found:
            raise StateError(
                f"a request to the job cannot be read: {unread[key]}; restore the file "
                "from a copy of the checkpoint, or use another checkpoint"
            )
    last: dict[int, int] = {}
    for group, number in found:
        last[group] = max(number, last.get(group, 0))
    for group, numbers in last.items():
        for number in range(1, numbers + 1):
            if (group, number) not in found:
                raise StateError(
                    f"{directory} lacks request {number} to shard {group}: restore the file "
                    f"'sql-{group}-{number}-*.json' from a copy of the checkpoint, or use another "
                    "checkpoint"
                )
