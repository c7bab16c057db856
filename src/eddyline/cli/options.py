"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from eddyline.engine.settings import Settings

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
Memory = Annotated[
    str | None,
    typer.Option(
        help="State that the queries may have, of all shards together, like '4 GB'; by default "
        "there is no limit.",
        metavar="SIZE",
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


def settings_of(
    capacity: float | None,
    assignments: Sequence[str] | None,
    keep: Sequence[str] | None = None,
    memory: str | None = None,
) -> Settings:
    """The options of the engines; ``keep``: texts like ``trades=0.5``."""
    from eddyline.engine.settings import Settings

    shares, cores = ", ".join(keep or ()), None if capacity is None else str(capacity)
    hint = "--keep"
    try:
        settings = Settings().with_text("capacity", cores).with_text("keep", shares)
        hint = "--memory"
        settings = settings.with_text("memory", memory)
        hint = "--set"
        return settings.with_texts(assignments or ())
    except ValueError as e:
        raise typer.BadParameter(str(e), param_hint=hint) from None
