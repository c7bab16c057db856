"""Requests that Spark has read are folded into one file, because it lists their directory for every
batch: when a job starts, and after every some requests.

Which files a batch reads is in Spark's logs: ``offsets`` has the end of each batch, ``sources``
the files up to there, ``commits`` the batches that are complete. A batch that is repeated reads its
files again, and a restart looks at those of the last committed batch. Files of earlier batches are
not needed any more: their statements have been executed, or wait in the state of their shard. Their
content is kept, because it says which queries were added and dropped::

    control/sql-0-1-ID.json   of batch 3 ─┐
    control/sql-0-2-ID.json   of batch 5 ─┴→ control/read-ID.json, which is not read by Spark
    control/sql-0-3-ID.json   of batch 7, the last one
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import threading
import uuid
from typing import Any, Final

from eddyline.errors import StateError
from eddyline.spark.storage.directory import Directory

#: Fewer files are left as they are.
LEAST_FILES: Final = 20
#: Requests to a running job after which its files are folded.
EVERY: Final = 100
_FOLDED: Final = re.compile(r"read-[0-9a-f]{32}\.json")
_QUESTION: Final = re.compile(r"ask-[0-9a-f]{32}\.json")
_LOG_FILE: Final = re.compile(r"\d+(\.compact)?")
_LOG_VERSION: Final = "v1"
#: Lines of an entry of ``offsets`` before those of the sources: the version, and the settings.
_FIRST_LINES: Final = 2
_log = logging.getLogger(__name__)


def is_folded(name: str) -> bool:
    """Whether this is the name of a file that holds others."""
    return _FOLDED.fullmatch(name) is not None


def is_question(name: str) -> bool:
    """Whether this is the name of a file that asks for an answer, and is deleted after it."""
    return _QUESTION.fullmatch(name) is not None


def folded_files(directory: Directory) -> dict[str, bytes]:
    """The files that were folded, by name.

    Raises:
        StateError: a file that holds them was modified or truncated.
    """
    found: dict[str, bytes] = {}
    for name in filter(is_folded, directory.names()):
        try:
            fields = json.loads(directory.read(name) or b"")
            files, digest = fields["files"], fields["digest"]
            is_whole = _digest(files) == digest
        except (ValueError, TypeError, KeyError):
            is_whole = False
        if not is_whole:
            raise StateError(
                f"requests to the job cannot be read: {directory.path}/{name}; restore the file "
                "from a copy of the checkpoint, or use another checkpoint"
            )
        found |= {file: text.encode() for file, text in files.items()}
    return found


def request_files(directory: Directory, form: re.Pattern[str]) -> dict[str, bytes]:
    """The content of the files of requests, also of those that were folded, by name.

    Another process may fold files meanwhile: they are read again until all that were listed are
    still there.

    Args:
        form: of their names.

    Raises:
        StateError: a file that holds others was modified or truncated.
    """
    while True:
        names = directory.names()
        error = None
        found = {name: directory.read(name) or b"" for name in filter(form.fullmatch, names)}
        try:
            found |= folded_files(directory)
        except StateError as e:
            error = e
        if set(names) <= set(directory.names()):
            if error is not None:
                raise error
            return found


def fold_read_files(directory: Directory, spark: Directory, source: int = -1) -> list[str]:
    """Fold the files that no batch reads again, and delete questions; returns the names of those
    that are folded.

    A failure at any point loses nothing: a file may then be there twice, with the same content.

    Args:
        directory: the control stream, of which all requests can be read. spark: Spark's part of the
            checkpoint.
        source: place of the control stream among the sources of the job; the last one.

    Raises:
        StateError: the file system fails.
    """
    names = directory.names()
    questions = list(filter(is_question, names))
    names = [name for name in names if not is_question(name)]
    are_many = sum(not is_folded(name) for name in names) >= LEAST_FILES
    if not are_many and not questions:
        return []
    read = _files_of_earlier_batches(spark, source)
    for name in questions:
        if name in read:
            directory.delete(name)
    if not are_many:
        return []
    done = [name for name in names if name in read]
    if not done:
        return []
    kept = folded_files(directory)
    for name in done:
        kept[name] = directory.read(name) or b""
    files = {name: content.decode() for name, content in kept.items()}
    content = json.dumps({"digest": _digest(files), "files": files})
    directory.write(f"read-{uuid.uuid4().hex}.json", content.encode())
    for name in (*filter(is_folded, names), *done):
        directory.delete(name)
    return done


class FoldingNow:
    """Folds the files of a running job; called after each request.

    Args:
        directory, spark: as of :func:`fold_read_files`.
    """

    def __init__(self, directory: Directory, spark: Directory) -> None:
        self._directory, self._spark = directory, spark
        self._lock = threading.Lock()
        self._sent = 0

    def __call__(self) -> None:
        """Fold, if there have been many requests. A failure is logged: the files stay."""
        with self._lock:
            self._sent += 1
            if self._sent < EVERY:
                return
            self._sent = 0
            try:
                fold_read_files(self._directory, self._spark)
            except StateError as e:
                _log.warning("requests are not folded: %s", e)


def _files_of_earlier_batches(spark: Directory, source: int) -> set[str]:
    """The names of the files that batches before the last committed one have read."""
    commits = sorted(int(name) for name in spark.names("commits") if name.isdigit())
    if len(commits) < 2:
        return set()
    version, *lines = _lines(spark, f"offsets/{commits[-2]}")
    sources = lines[_FIRST_LINES - 1 :]
    if version != _LOG_VERSION or not sources:
        return set()
    place = source % len(sources)
    end = _log_offset(sources[place])
    return {
        str(entry["path"]).rpartition("/")[2]
        for name in spark.names(f"sources/{place}")
        if _LOG_FILE.fullmatch(name)
        for line in _lines(spark, f"sources/{place}/{name}")[1:]
        if (entry := json.loads(line))["batchId"] <= end
    }


def _lines(directory: Directory, name: str) -> list[str]:
    return (directory.read(name) or b"").decode().split("\n")


def _log_offset(text: str) -> int:
    """The last batch of a source's log that is in an offset; -1: none."""
    if text == "-":
        return -1
    fields: Any = json.loads(text)
    return int(fields["logOffset"])


def _digest(files: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()
