"""``eddyline``: the commands. Exit codes: 0 done, 1 the job failed, 2 the input is wrong."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import eddyline
from eddyline.cli import failures
from eddyline.cli.answers import answer
from eddyline.cli.benchmarks import bench
from eddyline.cli.checkpoints import checkpoints, rescale
from eddyline.cli.machine import add_commands
from eddyline.cli.serving import Address, TokenFile, TokenVariable, http_server

if TYPE_CHECKING:
    from eddyline.engine.settings import Settings

app = typer.Typer(
    help="Standing SQL queries with sliding windows over streams, as one Spark job.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(bench, name="bench")
app.add_typer(checkpoints, name="checkpoint")
app.command()(rescale)
app.command()(answer)

ScriptFile = Annotated[Path, typer.Argument(help="A script of SQL statements.", metavar="FILE.sql")]
Checkpoint = Annotated[
    str,
    typer.Option(help="The checkpoint of the job.", envvar="EDDYLINE_CHECKPOINT", metavar="DIR"),
]
Patience = Annotated[
    float, typer.Option(min=0, help="Seconds to wait for the job to begin.", metavar="SECONDS")
]
Capacity = Annotated[
    float | None,
    typer.Option(
        min=1e-6,
        help="CPU cores that the queries may use; by default as many as engines can use: one for "
        "each group of streams that queries join, at most the number of shards and of cores.",
        metavar="CORES",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        help="Fraction of a stream's rows to keep, if all its queries allow load shedding; may be "
        "repeated. By default it is decided from the load of the queries.",
        metavar="STREAM=SHARE",
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="An option, as by SET name = value in front of the script; may be repeated.",
        metavar="NAME=VALUE",
    ),
]
Restarts = Annotated[
    int,
    typer.Option(
        min=0,
        help="Maximum number of restarts in a row after failures, from the last committed batch, "
        "after 1 s, 2 s, 4 s ... up to a minute.",
        metavar="TIMES",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")]


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Options before the command."""
    if version:
        typer.echo(f"eddyline {eddyline.__version__}")
        raise typer.Exit


@app.command()
def demo(json: Json = False) -> None:
    """Run ten standing queries over the recorded traces included in the package."""
    from eddyline.cli.demo import staged_demo
    from eddyline.cli.starting import starting_spark

    with failures.reported(), staged_demo() as script, starting_spark() as spark:
        from eddyline.cli.job import Job, run_job
        from eddyline.cli.view import make_view

        run_job(Job(script), make_view(as_json=json), spark)


@app.command()
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
    settings = _settings(capacity, assignments, keep) if chosen else None
    with failures.reported():
        read(file)
        log = log_file(checkpoint)
    serving = http_server(http, http_token_env, http_token_file)
    with failures.reported(), serving as server, starting_spark(shards, log) as spark:
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


def _settings(
    capacity: float | None, assignments: Sequence[str] | None, keep: Sequence[str] | None = None
) -> Settings:
    """The options of the engines; ``keep``: texts like ``trades=0.5``."""
    from eddyline.engine.settings import Settings

    shares, cores = ", ".join(keep or ()), None if capacity is None else str(capacity)
    hint = "--keep"
    try:
        settings = Settings().with_text("capacity", cores).with_text("keep", shares)
        hint = "--set"
        return settings.with_texts(assignments or ())
    except ValueError as e:
        raise typer.BadParameter(str(e), param_hint=hint) from None


@app.command()
def check(file: ScriptFile, capacity: Capacity = None, assignments: Assignments = None) -> None:
    """Check a script, its sources and sinks without running it; with declared rates, print the load
    of its queries.
    """
    from eddyline.cli.scripts import runnable
    from eddyline.spark.partitioning.groups import cores_by_shard

    with failures.reported():
        script = runnable(file, _settings(capacity, assignments))
        groups = len(script.groups())
        typer.echo(
            f"{file}: {_count(len(script.streams), 'stream')}, "
            f"{_count(len(script.tables), 'table')}, "
            f"{_count(len(script.queries), 'query')} in {_count(groups, 'group')}"
        )
        for sentence in script.unchecked_formats():
            typer.echo(f"{file}: warning: {sentence}")
        cores = cores_by_shard(range(groups), groups, script.options.capacity)
        for group, verdict, advice in script.verdicts(cores):
            which = f" the group of {', '.join(group.streams)}" if groups > 1 else ""
            typer.echo(f"{file}:{which} {advice or verdict.text()}")


@app.command()
def explain(
    file: ScriptFile,
    capacity: Capacity = None,
    assignments: Assignments = None,
    shards: Annotated[
        int | None,
        typer.Option(min=1, help="Also print how rows are dealt to this number of shards."),
    ] = None,
) -> None:
    """Print the plan of each query of a script, with the update pattern of every edge."""
    from eddyline.cli.scripts import checked
    from eddyline.spark.layouts.explain import partitionings

    with failures.reported():
        script = checked(file, _settings(capacity, assignments))
        found = {} if shards is None else partitionings(script, shards)
        for name, query in script.queries.items():
            dealing = f"\n{found[name]}" if name in found else ""
            typer.echo(f"{name}\n{query.explain()}{dealing}\n")


@app.command()
def analyze(
    file: ScriptFile,
    rows: Annotated[int, typer.Option(min=1, help="Rows to read of each stream.")] = 200_000,
    seconds: Annotated[
        float, typer.Option(min=0, help="How long to wait for rows of a live source.")
    ] = 10.0,
    json: Json = False,
) -> None:
    """Measure rates and numbers of distinct values of a script's sources; print the options that
    declare them.
    """
    from eddyline.cli.analyze import analyze_script

    with failures.reported():
        analyze_script(file, rows=rows, seconds=seconds, as_json=json)


@app.command()
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


@app.command()
def drop(
    name: Annotated[str, typer.Argument(help="A query of the job.")],
    checkpoint: Checkpoint,
    patience: Patience = 30.0,
) -> None:
    """Drop a query from a running job."""
    from eddyline.cli.mailbox_client import RunningJob
    from eddyline.spark.script import drop_statement

    with failures.reported():
        job = RunningJob(checkpoint)
        known = job.running().query(name)["name"]
        response = job.execute(drop_statement(known), patience)
        if response.error is not None:
            raise response.error
        typer.echo(f"dropped {known}")


@app.command("reset-watermark")
def reset_watermark(
    stream: Annotated[str, typer.Argument(help="A stream of the job.")],
    checkpoint: Checkpoint,
    patience: Patience = 30.0,
) -> None:
    """Reset the watermark of a stream's group; windows over its streams become empty."""
    from eddyline.cli.mailbox_client import RunningJob
    from eddyline.spark.script import reset_statement

    with failures.reported():
        response = RunningJob(checkpoint).execute(reset_statement(stream), patience)
        if response.error is not None:
            raise response.error
        typer.echo(f"reset {stream}")


@app.command("list")
def list_queries(checkpoint: Checkpoint, json: Json = False) -> None:
    """List the queries of a running job."""
    from eddyline.cli.mailbox_client import RunningJob
    from eddyline.cli.reports import print_queries

    with failures.reported():
        print_queries(RunningJob(checkpoint).status(), as_json=json)


@app.command()
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


@app.command()
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


add_commands(app)


def _count(n: int, what: str) -> str:
    plural = what[:-1] + "ies" if what.endswith("y") else what + "s"
    return f"{n} {what if n == 1 else plural}"
