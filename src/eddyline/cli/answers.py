"""``eddyline answer``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from eddyline.cli import failures

_TABLE = "table"


def answer(
    name: Annotated[str, typer.Argument(help="A query of the job.")],
    checkpoint: Annotated[
        str,
        typer.Option(
            help="The checkpoint of the job.", envvar="EDDYLINE_CHECKPOINT", metavar="DIR"
        ),
    ],
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
            known = did_you_mean(format, [_TABLE, *FORMATS])
            raise DataError(f"there is no format '{format}'; {known}")
        job = RunningJob(checkpoint)
        known = job.running().query(name)["name"]
        rows = job.answer(known, patience)
        if format == _TABLE:
            typer.echo(format_rows(known, rows, rows.num_rows))
        else:
            sys.stdout.buffer.write(FORMATS[format].encode(rows))
            sys.stdout.flush()
