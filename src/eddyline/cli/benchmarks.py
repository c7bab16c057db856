"""``eddyline bench``: measurements, in a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eddyline.cli import failures

bench = typer.Typer(help="Measure this machine.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")]


@bench.command("micro")
def bench_micro(json: Json = False) -> None:
    """Measure the engine and the Spark job on generated streams."""
    from eddyline.bench.micro import run_micro

    with failures.reported():
        run_micro(json=json)


@bench.command("queries")
def bench_queries(
    quick: Annotated[
        bool, typer.Option("--quick", help="Few queries and rows: a minute or two.")
    ] = False,
    json: Json = False,
) -> None:
    """Measure one to a hundred thousand standing queries, embedded and on Spark."""
    from eddyline.bench.queries.run import run_queries

    with failures.reported():
        run_queries(quick=quick, json=json)


@bench.command("flink")
def bench_flink(
    rows: Annotated[int, typer.Option(help="Rows of the stream.", min=1)] = 2_000_000,
    json: Json = False,
) -> None:
    """Measure patterns of rows beside Flink SQL, which Maven brings: the same texts and rows."""
    from eddyline.bench.flink.run import run_flink

    with failures.reported():
        run_flink(rows=rows, json=json)


@bench.command("peers")
def bench_peers(
    peer: Annotated[
        list[str] | None,
        typer.Option(help="Only this one, may be repeated, or all; default: all but Spark."),
    ] = None,
    case: Annotated[
        str | None, typer.Option(help="Only cases with this in their name, as 'join'.")
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Measured runs of each peer.")] = None,
    cores: Annotated[int, typer.Option(min=1, help="Cores of each peer.")] = 1,
    memory: Annotated[int, typer.Option(min=512, help="MB of each peer.")] = 6_000,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few and small cases: two minutes.")
    ] = False,
    write: Annotated[
        Path | None, typer.Option(help="Write a page, as docs/peers.md.", metavar="FILE")
    ] = None,
    json: Json = False,
) -> None:
    """Measure other systems beside the engine, by equal results over equal rows, in turns."""
    from eddyline.bench.peers.run import Choice, run_peers

    choice = Choice(peer or (), case, quick, rounds, cores, memory)
    with failures.reported():
        run_peers(choice, write=write, json=json)


@bench.command("mix")
def bench_mix(
    kind: Annotated[
        str | None, typer.Option("--class", help="Only this one, as 'NOT EXISTS'.", metavar="NAME")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few calls and queries: half a minute.")
    ] = False,
    json: Json = False,
) -> None:
    """Measure alerts, panels and absences: a hundred of a class beside one, and a mix of all."""
    from eddyline.bench.mix.run import run_mix

    with failures.reported():
        run_mix(kind=kind, quick=quick, json=json)


@bench.command("decisions")
def bench_decisions(json: Json = False) -> None:
    """Measure what feedback, drop boxes and the order of functions cost and save."""
    from eddyline.bench.decisions import run_decisions

    with failures.reported():
        run_decisions(json=json)


@bench.command("orders")
def bench_orders(
    joins: Annotated[int, typer.Option(min=1, help="How many joins are drawn.")] = 24,
    json: Json = False,
) -> None:
    """Measure the chosen order of random joins beside all orders, with feedback and without."""
    from eddyline.bench.orders import run_orders

    with failures.reported():
        run_orders(joins=joins, json=json)


@bench.command("small")
def bench_small(json: Json = False) -> None:
    """Measure calls with one, 100 and 1,000 rows, as Arrow tables and as dicts."""
    from eddyline.bench.small import run_small

    with failures.reported():
        run_small(json=json)


@bench.command("nexmark")
def bench_nexmark(
    query: Annotated[
        str | None, typer.Option(help="Only this one: q0 to q23.", metavar="NAME")
    ] = None,
    events: Annotated[
        int | None,
        typer.Option(
            min=1_000,
            help="Persons, auctions and bids, together; default: 500,000, with --spark 3,000,000.",
        ),
    ] = None,
    spark: Annotated[
        bool, typer.Option("--spark", help="One Spark job instead of embedded engines.")
    ] = False,
    json: Json = False,
) -> None:
    """Measure the queries of NEXMark, one by one and all in one engine."""
    from eddyline.bench.nexmark.run import run_nexmark

    with failures.reported():
        run_nexmark(query=query, events=events, spark=spark, json=json)


@bench.command("floor")
def bench_floor(
    rounds: Annotated[int, typer.Option(min=1, help="Runs of each pipeline.")] = 3,
    batches: Annotated[int, typer.Option(min=1, help="Measured batches of a run.")] = 20,
    json: Json = False,
) -> None:
    """Measure the cost of a batch with few rows, beside a bare pipeline of Spark."""
    from eddyline.bench.floor import run_floor

    with failures.reported():
        run_floor(rounds=rounds, batches=batches, json=json)


@bench.command("shards")
def bench_shards(
    case: Annotated[
        str | None,
        typer.Option(help="Only this one: join, rules, group, chain, replication.", metavar="NAME"),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Measured batches of each job.")] = 5,
    json: Json = False,
) -> None:
    """Measure jobs with one shard and with two, on two cores."""
    from eddyline.bench.shards import run_shards

    with failures.reported():
        run_shards(case=case, rounds=rounds, json=json)


@bench.command("throughput")
def bench_throughput(
    case: Annotated[
        str | None, typer.Option(help="Only this one: join, rules.", metavar="NAME")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Measured batches of each job.")] = 5,
    rows: Annotated[int, typer.Option(min=1_000, help="Rows of a batch.")] = 1_000_000,
    json: Json = False,
) -> None:
    """Measure rows per second through Spark, beside the same job without an engine."""
    from eddyline.bench.throughput import run_throughput

    with failures.reported():
        run_throughput(case=case, rounds=rounds, rows=rows, json=json)


@bench.command("kafka")
def bench_kafka(
    rounds: Annotated[int, typer.Option(min=1, help="Measured runs of each source.")] = 3,
    rows: Annotated[int, typer.Option(min=1_000, help="Rows of a batch.")] = 500_000,
    json: Json = False,
) -> None:
    """Measure messages of Kafka beside the same rows in JSON files and in Parquet files."""
    from eddyline.bench.kafka import run_kafka

    with failures.reported():
        run_kafka(rounds=rounds, rows=rows, json=json)


@bench.command("state")
def bench_state(
    batches: Annotated[int, typer.Option(min=2, help="Number of small batches.")] = 20_000,
    rows: Annotated[int, typer.Option(min=1_000, help="Rows in the windows.")] = 10_000_000,
    json: Json = False,
) -> None:
    """Measure the durable state of a shard: small batches, large windows, a restart."""
    from eddyline.bench.state import run_state

    with failures.reported():
        run_state(batches=batches, rows=rows, json=json)


@bench.command("soak")
def bench_soak(
    minutes: Annotated[float, typer.Option(min=0.5, help="How long the job runs.")] = 30.0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Directory for samples and pictures; default: benchmarks/soak.", metavar="DIR"
        ),
    ] = None,
    files_only: Annotated[
        bool, typer.Option("--files-only", help="Without Kafka, also where it is.")
    ] = False,
    json: Json = False,
) -> None:
    """Run a job while queries come and go and workers are killed: does anything grow?"""
    from eddyline.bench.soak.run import run_soak

    with failures.reported():
        holds = run_soak(minutes=minutes, out=out, files_only=files_only, json=json)
    if not holds:
        raise typer.Exit(1)


@bench.command("figures")
def bench_figures(
    name: Annotated[
        str,
        typer.Argument(
            help="Paper: cacq, jit, shared-windows, static-optimization, update-patterns; all: "
            "all of them, and a page about what they claim; page: that page alone.",
            metavar="NAME",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Directory for the results; default: benchmarks/NAME, of all: benchmarks.",
            metavar="DIR",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few points, few repetitions: a minute or two.")
    ] = False,
    json: Json = False,
) -> None:
    """Run the experiments of a paper; write its figures and the verdicts on its claims."""
    from eddyline.bench.figures import run_figures

    with failures.reported():
        run_figures(name, out, quick=quick, json=json)
