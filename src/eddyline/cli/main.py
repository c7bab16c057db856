"""``eddyline``: the commands. Exit codes: 0 done, 1 the job failed, 2 the input is wrong."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

import eddyline
from eddyline.cli import failures, machine, run, running
from eddyline.cli.checkpoints import checkpoints, rescale
from eddyline.cli.options import Assignments, Capacity, Json, Memory, ScriptFile, settings_of
from eddyline.cli.spark_properties import Properties, spark_properties

app = typer.Typer(
    help="Standing SQL queries with sliding windows over streams, as one Spark job.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
run.add_commands(app)


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Options before the command."""
    if version:
        typer.echo(f"eddyline {eddyline.__version__}")
        raise typer.Exit


@app.command()
def check(
    file: ScriptFile,
    capacity: Capacity = None,
    memory: Memory = None,
    assignments: Assignments = None,
) -> None:
    """Check a script, its sources and sinks without running it; with declared rates, print the load
    of its queries.
    """
    from eddyline.cli.scripts import runnable, warnings
    from eddyline.spark.partitioning.groups import cores_by_shard

    with failures.reported():
        script = runnable(file, settings_of(capacity, assignments, memory=memory))
        groups = len(script.groups())
        typer.echo(
            f"{file}: {_count(len(script.streams), 'stream')}, "
            f"{_count(len(script.tables), 'table')}, "
            f"{_count(len(script.queries), 'query')} in {_count(groups, 'group')}"
        )
        for sentence in warnings(script, file.resolve().parent):
            typer.echo(f"{file}: warning: {sentence}")
        cores = cores_by_shard(range(groups), groups, script.options.capacity)
        for group, verdict, advice in script.verdicts(cores, [1 / groups] * groups):
            which = f" the group of {', '.join(group.streams)}" if groups > 1 else ""
            typer.echo(f"{file}:{which} {advice or verdict.text()}")


@app.command()
def new(
    source: Annotated[
        str,
        typer.Argument(
            help="A file or directory of CSV, JSON lines, Parquet or ORC, or "
            "kafka://HOST:PORT/TOPIC.",
            metavar="SOURCE",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The script; by default named like the source, here."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            help="The event time: a column, or an expression of SQL; by default it is found.",
            metavar="COLUMN",
        ),
    ] = None,
    rows: Annotated[int, typer.Option(min=1, help="Rows to look at.")] = 10_000,
    seconds: Annotated[
        float, typer.Option(min=0, help="How long to read messages of Kafka.")
    ] = 10.0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the script.")] = False,
) -> None:
    """Write a script for your own data: columns, types, event time, and first queries."""
    with failures.reported():
        from eddyline.cli.starter.new import Starter, write_starter

        asked = Starter(source, output, time, rows, seconds, overwrite=force)
        for line in write_starter(asked):
            typer.echo(line)


@app.command()
def explain(
    file: ScriptFile,
    capacity: Capacity = None,
    memory: Memory = None,
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
        script = checked(file, settings_of(capacity, assignments, memory=memory))
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
    conf: Properties = None,
    json: Json = False,
) -> None:
    """Measure rates and numbers of distinct values of a script's sources; print the options that
    declare them.
    """
    from eddyline.cli.analyze import analyze_script

    with failures.reported():
        analyze_script(file, spark_properties(conf), rows=rows, seconds=seconds, as_json=json)


running.add_commands(app)
app.command()(rescale)
app.add_typer(checkpoints, name="checkpoint")
machine.add_commands(app)
if find_spec("eddyline.cli.benchmarks") is not None:  # in a checkout
    from eddyline.cli.benchmarks import bench

    app.add_typer(bench, name="bench")


def _count(n: int, what: str) -> str:
    plural = what[:-1] + "ies" if what.endswith("y") else what + "s"
    return f"{n} {what if n == 1 else plural}"
