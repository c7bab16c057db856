"""Verification of a checkpoint from its files, without Spark."""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from eddyline.errors import EddylineError, StateError
from eddyline.spark.delivery.undelivered import DIRECTORY as UNDELIVERED
from eddyline.spark.delivery.undelivered import UndeliveredBatches
from eddyline.spark.layouts.key_splits import DIRECTORY as SPLIT_KEYS
from eddyline.spark.layouts.key_splits import read_saved
from eddyline.spark.sinks.rolling_files import DIRECTORY as PENDING
from eddyline.spark.sinks.rolling_files import check_pending
from eddyline.spark.storage.control import DIRECTORY as CONTROL
from eddyline.spark.storage.control import foreign_files, read_statements
from eddyline.spark.storage.directory import Directory
from eddyline.spark.storage.lease import read_holder, require_free
from eddyline.spark.storage.program_file import NAME as PROGRAM
from eddyline.spark.storage.program_file import SPARK_DIRECTORY, SavedProgram, read_program
from eddyline.spark.storage.spark_batches import batch_ids, interruption, spark_batches
from eddyline.sql.parser import parse

Level = Literal["ok", "note", "error"]

#: Start of the files of Spark's logs.
_LOG_VERSION: Final = b"v1"
#: Start of Hadoop's checksum files.
_SUMS_VERSION: Final = b"crc\0"
#: Files of a version of the state: its changes, or a snapshot.
_STATE_FILE: Final = re.compile(r"(\d+)(?:_[\w-]+)?\.(?:changelog|zip)")


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        level: 'ok'; 'note' for information; 'error' if a job cannot continue exactly.
        what: the checked part. text: the result.
    """

    level: Level
    what: str
    text: str


def verify(checkpoint: Directory) -> Iterator[Finding]:
    """Check all parts of a checkpoint.

    Raises:
        StateError: the file system fails.
    """
    if not checkpoint.names():
        yield Finding("error", "checkpoint", f"{checkpoint.path} is empty or missing")
        return
    try:
        program = read_program(checkpoint)
    except StateError as e:
        program = None
        yield Finding("error", PROGRAM, str(e))
    else:
        if program is None:
            yield Finding("error", PROGRAM, f"{checkpoint.path} contains no program of a job")
        else:
            yield from _program(program)
    yield from _control(checkpoint)
    yield from _split_keys(checkpoint)
    yield from _undelivered(checkpoint)
    yield from _pending(checkpoint)
    yield from _lease(checkpoint)
    yield from _spark(checkpoint)


def _program(program: SavedProgram) -> Iterator[Finding]:
    text = (
        f"{len(program.queries)} queries in {len(program.layouts)} layouts, "
        f"{program.max_shards} shards at most for each"
    )
    try:
        for statement in program.statements:
            parse(statement)
    except EddylineError as e:
        yield Finding("error", PROGRAM, f"a statement cannot be read: {e}")
    else:
        yield Finding("ok", PROGRAM, text)


def _control(checkpoint: Directory) -> Iterator[Finding]:
    try:
        statements = read_statements(checkpoint.below(CONTROL))
    except StateError as e:
        yield Finding("error", CONTROL, str(e))
        return
    added = sum(statement.layout is not None for statement in statements)
    layouts = f", for which {added} layouts were added" if added else ""
    yield Finding("ok", CONTROL, f"{len(statements)} requests to add and drop queries{layouts}")
    for name in foreign_files(checkpoint.below(CONTROL)):
        yield Finding("note", CONTROL, f"{name} was not written by a job; it has no effect")


def _split_keys(checkpoint: Directory) -> Iterator[Finding]:
    try:
        number, saved = read_saved(checkpoint.below(SPLIT_KEYS))
    except StateError as e:
        yield Finding("error", SPLIT_KEYS, str(e))
        return
    if number:
        yield Finding("ok", SPLIT_KEYS, f"{sum(map(len, saved.values()))} split keys")


def _undelivered(checkpoint: Directory) -> Iterator[Finding]:
    below = checkpoint.below(UNDELIVERED)
    for place in below.names():
        try:
            waiting = UndeliveredBatches(below.below(place))
            for batch in waiting.ids:
                waiting.read(batch)
        except StateError as e:
            yield Finding("error", UNDELIVERED, str(e))
        else:
            yield Finding("note", UNDELIVERED, f"{len(waiting)} batches wait for a sink: {place}")


def _pending(checkpoint: Directory) -> Iterator[Finding]:
    below = checkpoint.below(PENDING)
    for place in below.names():
        try:
            n = check_pending(below.below(place))
        except StateError as e:
            yield Finding("error", PENDING, str(e))
        else:
            if n:
                text = f"the rows of {n} batches wait for their file: {place}"
                yield Finding("note", PENDING, text)


def _lease(checkpoint: Directory) -> Iterator[Finding]:
    try:
        holder = read_holder(checkpoint)
        require_free(checkpoint)
    except StateError as e:
        yield Finding("note", "lease", str(e))
        return
    if holder is None:
        yield Finding("ok", "lease", "free")
    else:
        yield Finding("ok", "lease", f"free: the last holder, {holder}, has ended")


def _spark(checkpoint: Directory) -> Iterator[Finding]:
    spark = checkpoint.below(SPARK_DIRECTORY)
    offsets, commits = (batch_ids(spark, log) for log in ("offsets", "commits"))
    if not offsets and not commits:
        yield Finding("note", "batches", "no batch has begun")
        return
    yield from _metadata(spark)
    done, begun = max(commits, default=-1), max(offsets, default=-1)
    for log, batches in (("offsets", offsets), ("commits", commits)):
        yield from _log(spark, log, batches)
    if done >= 0 and done not in offsets:
        yield Finding("error", "offsets", f"batch {done} was committed and is not in the log")
    elif begun > done + 1:
        yield Finding("error", "commits", f"batch {begun - 1} is missing: batch {begun} has begun")
    else:
        running = f"; batch {begun} has begun and will be repeated" if begun > done else ""
        last = f"committed up to batch {done}" if done >= 0 else "none committed"
        yield Finding("ok", "batches", f"{last}{running}")
    try:
        found = spark_batches(spark)
    except StateError as e:
        yield Finding("error", "offsets", str(e))
        return
    if (interrupted := interruption(checkpoint, found)) is not None:
        yield Finding("error", "batches", interrupted)
    if done >= 0 and found.partitions is not None:
        yield from _state(spark, found.partitions, done + 1)


def _metadata(spark: Directory) -> Iterator[Finding]:
    try:
        identity = json.loads(spark.read("metadata") or b"")["id"]
        yield Finding("ok", "metadata", f"identity {identity}")
    except (ValueError, KeyError, TypeError):
        yield Finding("error", "metadata", f"{spark.path}/metadata is missing or cannot be read")


def _log(spark: Directory, log: str, batches: set[int]) -> Iterator[Finding]:
    """Check that no batch is missing between others, and that the files are complete."""
    if batches:
        missing = set(range(min(batches), max(batches))) - batches
        if missing:
            yield Finding("error", log, f"batch {min(missing)} is missing")
    for batch in sorted(batches):
        content = spark.read(f"{log}/{batch}") or b""
        if not _is_log_entry(content) or not _is_whole(spark, log, str(batch)):
            path = f"{spark.path}/{log}/{batch}"
            yield Finding("error", log, f"{path} is truncated or modified")


def _is_log_entry(content: bytes) -> bool:
    """Whether it has a version line, followed by lines of JSON or text."""
    version, *lines = content.split(b"\n")
    try:
        for line in lines:
            if line.startswith((b"{", b"[")):
                json.loads(line)
    except ValueError:
        return False
    return version == _LOG_VERSION and bool(lines) and all(lines)


def _is_whole(directory: Directory, place: str, name: str) -> bool:
    """Whether a file matches the checksum file of Hadoop's local file system, if there is one:
    ``crc``, a zero byte and the block size, then the CRC-32 of each block.
    """
    sums = directory.read(f"{place}/.{name}.crc")
    content = directory.read(f"{place}/{name}") or b""
    if not sums or not sums.startswith(_SUMS_VERSION):
        return bool(content)
    (step,) = struct.unpack(">i", sums[4:8])
    found = (zlib.crc32(content[at : at + step]) for at in range(0, len(content), step))
    return b"".join(struct.pack(">I", crc) for crc in found) == sums[8:]


def _state(spark: Directory, partitions: int, version: int) -> Iterator[Finding]:
    """Check that each partition has the state of the last committed batch."""
    damaged = []
    for partition in range(partitions):
        place = f"state/0/{partition}"
        found = [m for m in map(_STATE_FILE.fullmatch, spark.names(place)) if m is not None]
        if not any(int(m[1]) == version for m in found):
            damaged.append(f"{spark.path}/{place} has no state of version {version}")
        kept = [(place, m[0]) for m in found if int(m[1]) <= version]
        kept += [(f"{place}/SSTs", name) for name in spark.names(f"{place}/SSTs")]
        damaged += [
            f"{spark.path}/{where}/{name} is truncated or modified"
            for where, name in kept
            if not _is_whole(spark, where, name)
        ]
    for text in damaged:
        yield Finding("error", "state", text)
    if not damaged:
        yield Finding("ok", "state", f"version {version} in all {partitions} partitions")
