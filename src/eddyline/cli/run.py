"""Commands that run a job: ``run`` and ``demo``."""

from __future__ import annotations

from typing import Annotated

import typer

from eddyline.cli import failures
from eddyline.cli.options import (
    Assignments,
    Capacity,
    Json,
    Keep,
    Restarts,
    ScriptFile,
    settings_of,
)
from eddyline.cli.serving import Address, TokenFile, TokenVariable, http_server
from eddyline.cli.spark_properties import Jars, Master, Packages, Properties, spark_properties


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    for command in (demo, run):
        app.command()(command)


def demo(json: Json = False) -> None:
    """Run ten standing queries over the recorded traces included in the package."""
    from eddyline.cli.demo import staged_demo
    from eddyline.cli.starting import starting_spark

    with failures.reported(), staged_demo() as script, starting_spark() as spark:
        from eddyline.cli.job import Job, run_job
        from eddyline.cli.view import make_view

        run_job(Job(script), make_view(as_json=json), spark)


def run(
    file: ScriptFile,
    checkpoint: Annotated[
        str | None,
        typer.Option(help="Directory for progress and state; a restart continues from it."),
    ] = None,
    once: Annotated[
        bool,
        typer.Option(
            "--once/--continuous",
            help="Process the rows that the sources hold now and end, or run until interrupted.",
        ),
    ] = True,
    finish: Annotated[
        bool | None,
        typer.Option(
            "--finish/--no-finish",
            help="With --once: whether the input has ended, so that rows held for the watermark "
            "are processed and all windows expire. By default only without --checkpoint.",
        ),
    ] = None,
    shards: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many shards run side by side, each an engine with a part of the rows; by "
            "default as many as the checkpoint has, or as there are cores.",
        ),
    ] = None,
    max_shards: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Into how many shards the same queries are divided at most: the largest number "
            "that eddyline rescale can set. Fixed at the first start, by default --shards.",
        ),
    ] = None,
    capacity: Capacity = None,
    keep: Keep = None,
    assignments: Assignments = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(help="A query to drop before the first batch; may be repeated."),
    ] = None,
    restart: Restarts = 0,
    master: Master = None,
    packages: Packages = None,
    jars: Jars = None,
    conf: Properties = None,
    http: Address = None,
    http_token_env: TokenVariable = None,
    http_token_file: TokenFile = None,
    json: Json = False,
) -> None:
    """Run the queries of a script as one Spark job.

    Exit codes: 0 the job has ended, or was stopped by SIGINT, or by SIGTERM after the current
    batch; 1 it failed; 2 the input is wrong.
    """
    from eddyline.cli.job_log import log_file
    from eddyline.cli.starting import read, starting_spark

    if max_shards is not None and max_shards < (shards or 1):
        raise typer.BadParameter(f"it is below --shards {shards}", param_hint="--max-shards")
    chosen = capacity is not None or assignments or keep
    settings = settings_of(capacity, assignments, keep) if chosen else None
    properties = spark_properties(conf, master, packages, jars)
    with failures.reported():
        read(file)
        log = log_file(checkpoint)
    serving = http_server(http, http_token_env, http_token_file)
    with failures.reported(), serving as server, starting_spark(shards, log, properties) as spark:
        from eddyline.cli.job import Job, run_job
        from eddyline.cli.view import make_view
        from eddyline.engine.settings import DEFAULT_SETTINGS
        from eddyline.spark.operation.supervisor import Restart

        ended = once and (checkpoint is None if finish is None else finish)
        job = Job(
            file,
            checkpoint,
            once=once,
            input_ends=ended,
            shards=shards,
            max_shards=max_shards,
            settings=settings or DEFAULT_SETTINGS,
            drop=tuple(drop or ()),
            restart=Restart(limit=restart),
            http=server,
        )
        view = make_view(as_json=json)
        view.place("log", str(log))
        if server is not None:
            view.place("http", server.url)
        run_job(job, view, spark)
