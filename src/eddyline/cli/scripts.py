"""Script files: reading, checking, and compiling the kernels that their queries need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.cli.starting import read
from eddyline.cli.two_rows import two_rows
from eddyline.engine.settings import DEFAULT_SETTINGS, Settings
from eddyline.errors import SqlError
from eddyline.spark.script import Script
from eddyline.spark.sources.option_check import unchecked_formats
from eddyline.spark.sources.surroundings import missing_here
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery, Statement


def checked(file: Path, settings: Settings = DEFAULT_SETTINGS) -> Script:
    """The script of a file, with all statements checked.

    Most kernels are compiled here, as the operators of a query are tried without rows when it is
    added.

    Raises:
        SqlError, CatalogError, DataError: a statement is wrong, or the file cannot be read.
    """
    return _executed(file, settings)[0]


def runnable(file: Path, settings: Settings = DEFAULT_SETTINGS) -> Script:
    """The script of a file, checked as a whole.

    Raises:
        SqlError, CatalogError, DataError: as of :func:`checked` and ``Script.check_whole``.
    """
    script, statements, text = _executed(file, settings)
    script.check_whole(statements, text)
    return script


def warnings(script: Script, base: Path) -> Iterator[str]:
    """A sentence for each source and sink that only Spark can check, and for all that the script
    needs and this machine has not.

    Args:
        script: a runnable one. base: directory of relative paths.
    """
    known: list[StreamDef | TableDef] = [*script.streams.values(), *script.tables.values()]
    queries = script.queries.values()
    yield from unchecked_formats(known, queries)
    read = script.read_by(script.groups())
    yield from missing_here((d for d in known if d.name in read), queries, base)


def _executed(file: Path, settings: Settings) -> tuple[Script, list[Statement], str]:
    script, text, base = Script(settings), read(file), file.resolve().parent
    return script, [statement for statement, _ in script.run(text, base)], text


def check_additions(sql: str) -> None:
    """Check that a script has CREATE QUERY statements only.

    Raises:
        SqlError: it has none, or others.
    """
    statements = parse(sql)
    for statement in statements:
        if not isinstance(statement, CreateQuery):
            raise SqlError(
                "only CREATE QUERY can be added to a running job",
                line=statement.line,
                column=statement.column,
                sql=sql,
            )
    if not statements:
        raise SqlError("there is no statement: expected CREATE QUERY name AS SELECT ...")


def warm_up(script: Script) -> None:
    """Process two generated rows per stream and changing table with the script's queries.

    This compiles the kernels that they need and that checking the script has not compiled, and
    caches them on disk, once per install, for the workers of the job.

    Args:
        script: a checked script, which cannot be used to run a job afterwards.
    """
    script.try_rows(two_rows(script.streams, script.tables))
