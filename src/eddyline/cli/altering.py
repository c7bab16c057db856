"""The command ``alter``."""

from __future__ import annotations

from typing import Annotated

import typer

from eddyline.cli import failures

Checkpoint = Annotated[
    str,
    typer.Option(help="The checkpoint of the job.", envvar="EDDYLINE_CHECKPOINT", metavar="DIR"),
]
Patience = Annotated[
    float, typer.Option(min=0, help="Seconds to wait for the job to begin.", metavar="SECONDS")
]


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
        response = job.execute(statement, patience)
        if response.error is not None:
            raise response.error
        typer.echo(f"altered {known}")
