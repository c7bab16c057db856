"""Commands about the machine rather than a script."""

from __future__ import annotations

from typing import Annotated

import typer

from eddyline.cli import failures
from eddyline.cli.options import Json


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    for command in (calibrate, connectors, prepare, scale):
        app.command()(command)


def calibrate(json: Json = False) -> None:
    """Measure the costs of operator steps on this machine, for EXPLAIN and the optimizer."""
    from eddyline.cli.calibration import run_calibration

    with failures.reported():
        run_calibration(json=json)


def connectors() -> None:
    """Fetch Spark's connector for Kafka and its library for Avro, which PySpark lacks."""
    from eddyline.spark.connectors import fetch_connectors
    from eddyline.spark.environment import require_java

    with failures.reported():
        kafka, avro = fetch_connectors(require_java())
        typer.echo(f"connectors for Kafka: {kafka}\nrecords of Avro: {avro}")


def prepare() -> None:
    """Compile modules and kernels, and archive the classes of Spark if it is installed, so that
    first calls and jobs start sooner.
    """
    from eddyline.cli.prepare import prepare_machine

    with failures.reported():
        prepare_machine(typer.echo)


def scale(
    rate: Annotated[float, typer.Option(min=1, help="Rows per second of all streams.")] = 1e7,
    row_bytes: Annotated[float, typer.Option(min=1, help="Bytes of a row.")] = 64,
    zipf: Annotated[float, typer.Option(min=0, help="Exponent of skewed keys.")] = 1.0,
    json: Json = False,
) -> None:
    """Compute what 8, 64 and 512 shards would have to do, from generated keys; nothing is run."""
    from eddyline.cli.scale import print_scale

    with failures.reported():
        print_scale(rate=rate, row_bytes=row_bytes, exponent=zipf, as_json=json)
