"""``eddyline scale``: the simulated load of shards as a table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict

import typer

from eddyline.engine.explain import aligned, number
from eddyline.optimizer.byte_sizes import bytes_text
from eddyline.spark.layouts.simulation import (
    ONE_KEY_SHARE,
    ShardLoad,
    costs_of_one_key,
    simulate_all,
)

HEADER = (
    *("workload", "keys", "shards", "grid", "copies", "rows/s", "most rows/s", "most results"),
    *("most state", "shuffled/s", "cores", "busiest"),
)
_ONE_KEY_SHARDS = 4


def print_scale(*, rate: float, row_bytes: float, exponent: float, as_json: bool) -> None:
    """Print the loads of all workloads: computed, not measured."""
    loads = simulate_all(rate, row_bytes, exponent)
    if as_json:
        for load in loads:
            typer.echo(json.dumps(asdict(load)))
        return
    typer.echo("computed from the keys of generated rows; nothing is executed")
    for line in table(loads):
        typer.echo(line)
    unsplit, split = costs_of_one_key(_ONE_KEY_SHARDS)
    typer.echo(
        f"a key with {ONE_KEY_SHARE:.0%} of a stream's rows, in a join on {_ONE_KEY_SHARDS} "
        f"shards: the busiest receives and makes {unsplit:.2f} times as many rows as with even "
        f"keys; {split:.2f} times if the key is split"
    )


def table(loads: Iterable[ShardLoad]) -> list[str]:
    """The loads as lines of text; rows and state are those of one shard."""
    return aligned([HEADER, *(_cells(load) for load in loads)], left=2)


def _cells(load: ShardLoad) -> tuple[str, ...]:
    return (
        load.workload,
        load.skew,
        str(load.shards),
        "x".join(map(str, load.sizes)) or "1",
        f"{load.copies:.1f}",
        number(load.rows),
        number(load.most_rows),
        f"{100 * load.most_results:.2g} %",
        bytes_text(load.most_state),
        bytes_text(load.shuffled),
        number(load.cores),
        f"{load.busiest:.2f}",
    )
