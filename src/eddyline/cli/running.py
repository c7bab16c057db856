"""Commands on a running job, which they reach through its checkpoint."""

from __future__ import annotations

import sys
from contextlib import closing, suppress
from typing import Annotated, Final

import typer

from eddyline.cli import failures
from eddyline.cli.options import Checkpoint, Json, Patience

#: The format of an answer for people.
_TABLE: Final = "table"


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    for command in (add, alter, answer, drop, reset_watermark, stats, tail):
        app.command()(command)
    app.command("list")(list_queries)


def add(
    sql: Annotated[
        str,
        typer.Argument(
            help="CREATE QUERY statements; - reads them from standard input.", metavar="SQL"
        ),
    ],
    checkpoint: Checkpoint,
    patience: Patience = 30.0,
) -> None:
    """Add queries to a running job."""
    from eddyline.cli.mailbox_client import RunningJob
    from eddyline.cli.scripts import check_additions

    with failures.reported():
        text = sys.stdin.read() if sql == "-" else sql
        check_additions(text)
        response = RunningJob(checkpoint).execute(text, patience)
        for name in response.done:
            typer.echo(f"added {name}")
        if response.error is not None:
            raise response.error


def alter(
    name: Annotated[str, typer.Argument(help="A query of the job.")],
    sink: Annotated[
        str,
        typer.Argument(help='All options of its sink: "WITH (sink = ...)".', metavar="WITH"),
    ],
    checkpoint: Checkpoint,
    patience: Patience = 30.0,
) -> None:
    """Give a query of a running job another sink."""
    from eddyline.cli.mailbox_client import RunningJob
    from eddyline.errors import SqlError
    from eddyline.sql.naming import quoted
    from eddyline.sql.parser import parse

    with failures.reported():
        job = RunningJob(checkpoint)
        known = job.running().query(name)["name"]
        statement = f"ALTER QUERY {quoted(known)} {sink}"
        if len(parse(statement)) != 1:
            raise SqlError("expected WITH and the options of one sink")
        job.change(statement, patience)
        typer.echo(f"altered {known}")


def drop(
    name: Annotated[str, typer.Argument(help="A query of the job.")],
    checkpoint: Checkpoint,
    patience: Patience = 30.0,
) -> None:
    """Drop a query from a running job."""
    from eddyline.cli.mailbox_client import RunningJob
    from eddyline.spark.statement_texts import drop_statement

    with failures.reported():
        job = RunningJob(checkpoint)
        known = job.running().query(name)["name"]
        job.change(drop_statement(known), patience)
        typer.echo(f"dropped {known}")


def reset_watermark(
    stream: Annotated[str, typer.Argument(help="A stream of the job.")],
    checkpoint: Checkpoint,
    patience: Patience = 30.0,
) -> None:
    """Reset the watermark of a stream's group; windows over its streams become empty."""
    from eddyline.cli.mailbox_client import RunningJob
    from eddyline.spark.statement_texts import reset_statement

    with failures.reported():
        RunningJob(checkpoint).change(reset_statement(stream), patience)
        typer.echo(f"reset {stream}")


def list_queries(checkpoint: Checkpoint, json: Json = False) -> None:
    """List the queries of a running job."""
    from eddyline.cli.mailbox_client import RunningJob
    from eddyline.cli.reports import print_queries

    with failures.reported():
        print_queries(RunningJob(checkpoint).status(), as_json=json)


def stats(
    checkpoint: Checkpoint,
    names: Annotated[
        list[str] | None, typer.Argument(help="Queries; by default all.", metavar="NAME")
    ] = None,
    json: Json = False,
) -> None:
    """Print the progress of a running job, and the metrics of its queries."""
    from eddyline.cli.mailbox_client import RunningJob
    from eddyline.cli.reports import print_stats

    with failures.reported():
        status = RunningJob(checkpoint).status()
        chosen = [status.query(n) for n in names] if names else status.queries
        print_stats(status, [q["name"] for q in chosen], as_json=json)


def tail(
    name: Annotated[str, typer.Argument(help="A query of the job.")],
    checkpoint: Checkpoint,
    limit: Annotated[
        int | None, typer.Option(min=1, help="End after this number of rows.", metavar="ROWS")
    ] = None,
    json: Json = False,
) -> None:
    """Print the results of a query of a running job, for any sink, until interrupted."""
    from eddyline.cli.mailbox_client import RunningJob
    from eddyline.cli.reports import print_results

    with failures.reported(), suppress(KeyboardInterrupt):
        job = RunningJob(checkpoint)
        known = job.running().query(name)["name"]
        left = limit
        with closing(job.follow(known)) as batches:
            for rows, n in batches:
                if not n:
                    typer.echo(f"following {known}", err=True)
                    continue
                print_results(known, rows.slice(0, left), n, as_json=json)
                if left is not None and (left := left - n) <= 0:
                    break


def answer(
    name: Annotated[str, typer.Argument(help="A query of the job.")],
    checkpoint: Checkpoint,
    format: Annotated[
        str, typer.Option(help="table, json, csv or arrow (an IPC stream).", metavar="FORMAT")
    ] = _TABLE,
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for the answer.", metavar="SECONDS")
    ] = 30.0,
) -> None:
    """Print the present answer of a query of a running job."""
    from eddyline.cli.mailbox_client import RunningJob
    from eddyline.errors import DataError, did_you_mean
    from eddyline.spark.operation.answer_formats import FORMATS
    from eddyline.spark.sinks.printing import format_rows

    with failures.reported():
        if format != _TABLE and format not in FORMATS:
            choices = did_you_mean(format, [_TABLE, *FORMATS])
            raise DataError(f"there is no format '{format}'; {choices}")
        job = RunningJob(checkpoint)
        known = job.running().query(name)["name"]
        rows = job.answer(known, patience)
        if format == _TABLE:
            typer.echo(format_rows(known, rows, rows.num_rows))
        else:
            sys.stdout.buffer.write(FORMATS[format].encode(rows))
            sys.stdout.flush()
