"""Commands that run a job: ``run``, ``backtest`` and ``demo``."""

from __future__ import annotations

from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eddyline.cli import failures
from eddyline.cli.options import (
    Assignments,
    Capacity,
    Json,
    Keep,
    Memory,
    Restarts,
    ScriptFile,
    settings_of,
)
from eddyline.cli.serving import (
    Address,
    ReadOnly,
    TokenFile,
    TokenVariable,
    console_server,
    http_server,
)
from eddyline.cli.spark_properties import Jars, Master, Packages, Properties, spark_properties

if TYPE_CHECKING:
    from eddyline.cli.view import JobView
    from eddyline.spark.operation.http_server import HttpServer

_Checkpoint = Annotated[
    str | None,
    typer.Option(help="Directory for progress and state; a restart continues from it."),
]
_Once = Annotated[
    bool,
    typer.Option(
        "--once/--continuous",
        help="Process the rows that the sources hold now and end, or run until interrupted.",
    ),
]
_Finish = Annotated[
    bool | None,
    typer.Option(
        "--finish/--no-finish",
        help="With --once: whether the input has ended, so that rows held for the watermark "
        "are processed and all windows expire. By default only without --checkpoint.",
    ),
]
_Shards = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="How many shards run side by side, each an engine with a part of the rows; by "
        "default as many as the checkpoint has, or as there are cores.",
    ),
]
_MaxShards = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Into how many shards the same queries are divided at most: the largest number "
        "that eddyline rescale can set. Fixed at the first start, by default --shards.",
    ),
]
_Dropped = Annotated[
    list[str] | None,
    typer.Option(help="A query to drop before the first batch; may be repeated."),
]


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    for command in (demo, run, backtest):
        app.command()(command)


def demo(
    console: Annotated[
        bool,
        typer.Option("--console", help="Serve the console, and run until interrupted."),
    ] = False,
    embedded: Annotated[
        bool | None,
        typer.Option(
            "--embedded/--spark",
            help="Whether to run in this process, or as a job on Spark; by default on Spark if "
            "PySpark is installed.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Run ten standing queries over the recorded traces included in the package."""
    from eddyline.cli.demo import demo_on_spark, embedded_demo

    if embedded is None:
        embedded = find_spec("pyspark") is None
    if embedded:
        with failures.reported():
            embedded_demo(console=console, as_json=json)
        return
    serving = console_server() if console else nullcontext()
    with failures.reported(), serving as server:
        demo_on_spark(server, as_json=json)


def run(
    file: ScriptFile,
    checkpoint: _Checkpoint = None,
    once: _Once = True,
    finish: _Finish = None,
    shards: _Shards = None,
    max_shards: _MaxShards = None,
    capacity: Capacity = None,
    memory: Memory = None,
    keep: Keep = None,
    assignments: Assignments = None,
    drop: _Dropped = None,
    restart: Restarts = 0,
    master: Master = None,
    packages: Packages = None,
    jars: Jars = None,
    conf: Properties = None,
    http: Address = None,
    http_token_env: TokenVariable = None,
    http_token_file: TokenFile = None,
    http_read_only: ReadOnly = False,
    json: Json = False,
) -> None:
    """Run the queries of a script as one Spark job.

    Exit codes: 0 the job has ended, or was stopped by SIGINT, or by SIGTERM after the current
    batch; 1 it failed; 2 the input is wrong.
    """
    from eddyline.cli.job_log import log_file
    from eddyline.cli.starting import read, starting_spark

    _check_shards(shards, max_shards)
    chosen = capacity is not None or memory is not None or assignments or keep
    settings = settings_of(capacity, assignments, keep, memory=memory) if chosen else None
    properties = spark_properties(conf, master, packages, jars)
    with failures.reported():
        read(file)
        log = log_file(checkpoint)
    serving = http_server(http, http_token_env, http_token_file, read_only=http_read_only)
    with failures.reported(), serving as server, starting_spark(shards, log, properties) as spark:
        from eddyline.cli.job import Job, run_job
        from eddyline.cli.view import make_view
        from eddyline.engine.settings import DEFAULT_SETTINGS
        from eddyline.spark.operation.supervisor import Restart

        job = Job(
            file,
            checkpoint,
            once=once,
            input_ends=once and (checkpoint is None if finish is None else finish),
            shards=shards,
            max_shards=max_shards,
            settings=settings or DEFAULT_SETTINGS,
            drop=tuple(drop or ()),
            restart=Restart(limit=restart),
            http=server,
        )
        view = make_view(as_json=json)
        _show_places(view, log, server)
        run_job(job, view, spark)


def _show_places(view: JobView, log: Path, server: HttpServer | None) -> None:
    view.place("log", str(log))
    if server is not None:
        view.place("http", server.url)


def _check_shards(shards: int | None, max_shards: int | None) -> None:
    if max_shards is not None and max_shards < (shards or 1):
        raise typer.BadParameter(f"it is below --shards {shards}", param_hint="--max-shards")


def backtest(
    file: ScriptFile,
    since: Annotated[
        str, typer.Option("--from", help="First instant, ISO 8601, UTC.", metavar="TIME")
    ],
    to: Annotated[str, typer.Option(help="The first instant behind the period.", metavar="TIME")],
    output: Annotated[
        Path | None,
        typer.Option(help="Directory for the results of each query, as QUERY.parquet."),
    ] = None,
    warm_up: Annotated[
        str | None,
        typer.Option(
            help="Also read rows so long before --from, so that windows are full there; their "
            "results do not count.",
            metavar="DURATION",
        ),
    ] = None,
    shards: Annotated[
        int | None, typer.Option(min=1, help="How many shards run side by side.")
    ] = None,
    assignments: Assignments = None,
    master: Master = None,
    packages: Packages = None,
    jars: Jars = None,
    conf: Properties = None,
    json: Json = False,
) -> None:
    """Run the queries of a script over the history of its streams, without their sinks, and print
    how often each would have fired.

    Exit codes: 0 done; 1 the job failed or was interrupted; 2 the input is wrong.
    """
    from eddyline.cli.starting import read, starting_spark
    from eddyline.engine.instants import instant_us
    from eddyline.errors import DataError
    from eddyline.sql.durations import parse_duration

    with failures.reported():
        read(file)
        period = instant_us(since), instant_us(to)
        if period[0] >= period[1]:
            raise DataError(f"the period from {since} to {to} is empty")
        try:
            before = 0 if warm_up is None else parse_duration(warm_up)
        except ValueError as e:
            raise typer.BadParameter(str(e), param_hint="--warm-up") from None
        settings = settings_of(None, assignments)
    properties = spark_properties(conf, master, packages, jars)
    with failures.reported(), starting_spark(shards, None, properties) as spark:
        from eddyline.cli.backtest import Period, backtest_script, print_fired
        from eddyline.cli.view import make_view

        view = make_view(as_json=json)
        tested = Period(*period, before)
        found = backtest_script(file, tested, output, settings, shards, view, spark)
        print_fired(found, as_json=json)
