"""Commands on the checkpoint of a job that does not run."""

from __future__ import annotations

import json as json_format
import tempfile
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eddyline.cli import failures
from eddyline.cli.options import Json
from eddyline.cli.spark_properties import Properties, spark_properties

if TYPE_CHECKING:
    from eddyline.spark.rescaling import Rescaled

checkpoints = typer.Typer(help="Inspect the checkpoint of a job.", no_args_is_help=True)

StoppedJob = Annotated[str, typer.Argument(help="The checkpoint of a job.", metavar="DIR")]


@checkpoints.command("verify")
def checkpoint_verify(checkpoint: StoppedJob, json: Json = False) -> None:
    """Check the files of a checkpoint; exit code 2 if there are errors."""
    from eddyline.cli.arrow_directory import open_directory
    from eddyline.cli.reports import print_findings
    from eddyline.spark.verify import verify

    with failures.reported():
        is_valid = print_findings(verify(open_directory(checkpoint)), as_json=json)
    if not is_valid:
        raise typer.Exit(failures.BAD_INPUT)


def rescale(
    checkpoint: StoppedJob,
    shards: Annotated[
        int, typer.Option(min=1, help="How many shards are to run side by side.", metavar="N")
    ],
    conf: Properties = None,
    json: Json = False,
) -> None:
    """Change how many shards of a stopped job run side by side, at most its --max-shards. Its next
    start continues with this number, exactly where it stopped.
    """
    properties = spark_properties(conf)
    with failures.reported():
        from eddyline.cli.arrow_directory import open_directory
        from eddyline.spark.environment import local_session
        from eddyline.spark.rescaling import require_rescalable
        from eddyline.spark.rescaling import rescale as rescaled

        require_rescalable(open_directory(checkpoint), shards)  # before Spark is started
        with tempfile.TemporaryDirectory(prefix="eddyline-") as scratch:
            spark = local_session(log=Path(scratch, "spark.log"), properties=properties)
            done = rescaled(checkpoint, shards, spark)
            spark.stop()
        _print_rescaled(done, as_json=json)


def _print_rescaled(done: Rescaled, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json_format.dumps(asdict(done)))
        return
    if done.batch is None:
        typer.echo(f"there are {done.shards} shards side by side already")
    else:
        typer.echo(
            f"rescaled from {done.before} to {done.shards} shards side by side in "
            f"{done.seconds:.1f} s (batch {done.batch})"
        )
    for partition, placed in groupby(done.placement, key=lambda p: p.partition):
        cells = [f"cell {p.cell} of {p.layout}" for p in placed]
        typer.echo(f"  partition {partition}: {'; '.join(cells)}")
