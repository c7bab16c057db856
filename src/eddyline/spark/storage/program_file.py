"""``program.json`` of a checkpoint: the program to which its state belongs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast, get_args

from eddyline.engine.options import DEFAULT_STRATEGY, EngineOptions, StrategyOptions
from eddyline.errors import StateError
from eddyline.optimizer.prices import TYPICAL
from eddyline.spark.storage.directory import Directory
from eddyline.sql.statements import ObjectKind

NAME: Final = "program.json"
#: The sinks of the script of the last start, if they have ever differed from those in the program.
SINKS: Final = "sinks.json"
#: Directory of Spark's part of the checkpoint.
SPARK_DIRECTORY: Final = "spark"
#: Where the bad rows of queries are.
BAD_ROWS: Final = "bad_rows_of_queries"
#: Version of the files of a checkpoint.
FORMAT: Final = 10

#: Fields that are written without conversion.
_PLAIN: Final = ("shards", "max_shards", "functions")
_TYPICAL: Final = EngineOptions(prices=TYPICAL)
_RESTORE: Final = "restore the file from a copy of the checkpoint, or use another checkpoint"


class SavedStatement(NamedTuple):
    """The CREATE statement of a stream, table, view or query."""

    kind: ObjectKind
    name: str
    sql: str

    @classmethod
    def of(cls, fields: Sequence[str]) -> SavedStatement:
        """The statement of the file's fields."""
        kind, name, sql = map(str, fields)
        if kind not in get_args(ObjectKind):
            raise ValueError(f"there is no kind '{kind}'")
        return cls(cast(ObjectKind, kind), name, sql)


@dataclass(frozen=True)
class SavedLayout:
    """A layout with its shards.

    Attributes:
        shards: ids by cell. cores: CPU cores of each, at the first start.
        queries: the names of those of its start.
        text: how its rows are dealt, see :meth:`Layout.text`; equal for equal layouts only.
    """

    shards: tuple[int, ...]
    queries: tuple[str, ...]
    cores: float = 1.0
    text: str = ""

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> SavedLayout:
        """The layout of the file's fields."""
        shards = tuple(map(int, fields["shards"]))
        queries = tuple(map(str, fields["queries"]))
        return cls(shards, queries, float(fields["cores"]), str(fields["text"]))


@dataclass(frozen=True)
class SavedProgram:
    """The program of a checkpoint.

    Attributes:
        shards: number of partitions of the first batch; those of later ones are in Spark's log (see
            ``spark_batches``).
        max_shards: the largest number of cells of a layout.
        created: the streams, tables, views and queries, in order.
        layouts: of all groups, with the names of their queries.
        options, strategy: of the session, with the prices from which plans were chosen.
    """

    shards: int
    max_shards: int
    created: tuple[SavedStatement, ...]
    layouts: tuple[SavedLayout, ...]
    functions: tuple[str, ...] = ()
    options: EngineOptions = _TYPICAL
    strategy: StrategyOptions = DEFAULT_STRATEGY

    @property
    def queries(self) -> dict[str, str]:
        """The CREATE QUERY statements at the start, by name."""
        return {made.name: made.sql for made in self.created if made.kind == "query"}

    @property
    def statements(self) -> tuple[str, ...]:
        """Statements that create the streams, tables, views and queries."""
        return tuple(made.sql for made in self.created)

    def text(self) -> str:
        """The content of the file."""
        content: dict[str, Any] = {name: getattr(self, name) for name in _PLAIN}
        content["created"] = self.created
        content["layouts"] = [vars(layout) for layout in self.layouts]
        options, strategy = self.options.as_dict(), self.strategy.as_dict()
        return json.dumps(
            {"format": FORMAT, **content, "options": options, "strategy": strategy}, indent=1
        )

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> SavedProgram:
        """The program of the file's fields."""
        return cls(
            int(fields["shards"]),
            int(fields["max_shards"]),
            tuple(map(SavedStatement.of, fields["created"])),
            tuple(map(SavedLayout.of, fields["layouts"])),
            tuple(map(str, fields["functions"])),
            EngineOptions.from_dict(fields["options"]),
            StrategyOptions(**fields["strategy"]),
        )


def read_program(checkpoint: Directory) -> SavedProgram | None:
    """The program of a checkpoint; None if that is new.

    Raises:
        StateError: the file is missing although the job has run, it cannot be read, or another
            version of Eddyline wrote it.
    """
    path = f"{checkpoint.path}/{NAME}"
    content = checkpoint.read(NAME)
    if content is None:
        for directory, what in ((SPARK_DIRECTORY, "Spark's progress"), ("control", "requests")):
            if checkpoint.names(directory):
                raise StateError(
                    f"{path} is missing, although {checkpoint.path} holds {what} of a job: which "
                    f"program its state belongs to is not known; {_RESTORE}"
                )
        return None
    try:
        fields = json.loads(content)
        written = fields["format"]
    except (ValueError, TypeError, KeyError) as e:
        raise StateError(f"{path} cannot be read ({_what(e)}); {_RESTORE}") from None
    if written != FORMAT:
        raise StateError(
            f"the checkpoint {checkpoint.path} is of format {written}; this version of Eddyline "
            f"reads format {FORMAT}: continue with the version that wrote it, or use another "
            "checkpoint"
        )
    try:
        return SavedProgram.of(fields)
    except (ValueError, TypeError, KeyError, AttributeError) as e:
        raise StateError(f"{path} cannot be read ({_what(e)}); {_RESTORE}") from None


def read_sinks(checkpoint: Directory) -> dict[str, dict[str, str]] | None:
    """By query, the options of its sink in the script of the last start; None: as in the program.

    Raises:
        StateError: the file cannot be read.
    """
    content = checkpoint.read(SINKS)
    if content is None:
        return None
    try:
        return {str(name): dict(options) for name, options in json.loads(content).items()}
    except (ValueError, TypeError, AttributeError) as e:
        raise StateError(f"{checkpoint.path}/{SINKS} cannot be read ({e}); {_RESTORE}") from None


def write_sinks(checkpoint: Directory, sinks: Mapping[str, Mapping[str, str]]) -> None:
    """Write what :func:`read_sinks` reads.

    Raises:
        StateError: it cannot be written.
    """
    checkpoint.replace(SINKS, json.dumps(sinks).encode())


def write_program(checkpoint: Directory, program: SavedProgram) -> None:
    """Write the program of a checkpoint of which no batch has begun.

    Raises:
        StateError: it cannot be written.
    """
    checkpoint.make()
    checkpoint.replace(NAME, program.text().encode())


def _what(error: Exception) -> str:
    return f"it lacks {error}" if isinstance(error, KeyError) else str(error)
