"""``program.json`` of a checkpoint: the program to which its state belongs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from eddyline.engine.options import DEFAULT_STRATEGY, EngineOptions, StrategyOptions
from eddyline.errors import StateError
from eddyline.optimizer.prices import TYPICAL
from eddyline.spark.directory import Directory

NAME: Final = "program.json"
#: Directory of Spark's part of the checkpoint.
SPARK_DIRECTORY: Final = "spark"
#: Version of the files of a checkpoint.
FORMAT: Final = 7

#: Fields that are written without conversion.
_PLAIN: Final = ("shards", "definitions", "queries", "functions", "cores")
_TYPICAL: Final = EngineOptions(prices=TYPICAL)
_RESTORE: Final = "restore the file from a copy of the checkpoint, or use another checkpoint"


@dataclass(frozen=True)
class SavedProgram:
    """The program of a checkpoint.

    Attributes:
        shards: number of partitions over which the engines are spread.
        definitions: CREATE STREAM, TABLE and VIEW statements. queries: by shard id, the CREATE
            QUERY statements at its start, by name.
        cores: CPU cores by shard id.
        options, strategy: of the session, with the prices from which plans were chosen.
    """

    shards: int
    definitions: tuple[str, ...]
    queries: Mapping[int, Mapping[str, str]]
    functions: tuple[str, ...] = ()
    cores: Mapping[int, float] = field(default_factory=dict)
    options: EngineOptions = _TYPICAL
    strategy: StrategyOptions = DEFAULT_STRATEGY

    @property
    def statements(self) -> tuple[str, ...]:
        """Statements that create the streams, tables, views and queries."""
        of_queries = (sql for queries in self.queries.values() for sql in queries.values())
        return (*self.definitions, *of_queries)

    def text(self) -> str:
        """The content of the file."""
        content = {name: getattr(self, name) for name in _PLAIN}
        options, strategy = self.options.as_dict(), self.strategy.as_dict()
        return json.dumps(
            {"format": FORMAT, **content, "options": options, "strategy": strategy}, indent=1
        )

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> SavedProgram:
        """The program of the file's fields."""
        return cls(
            int(fields["shards"]),
            tuple(map(str, fields["definitions"])),
            {int(shard): dict(queries) for shard, queries in fields["queries"].items()},
            tuple(map(str, fields["functions"])),
            {int(shard): float(cores) for shard, cores in fields["cores"].items()},
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


def write_program(checkpoint: Directory, program: SavedProgram) -> None:
    """Write the program of a new checkpoint.

    Raises:
        StateError: it cannot be written.
    """
    checkpoint.make()
    checkpoint.write(NAME, program.text().encode())


def _what(error: Exception) -> str:
    return f"it lacks {error}" if isinstance(error, KeyError) else str(error)
