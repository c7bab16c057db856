"""What the shards of a job run when it starts: their programs, and the contents of their tables."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

from pyspark.sql import SparkSession

from eddyline.spark.job_inputs import JobInputs
from eddyline.spark.layouts.job_program import JobProgram
from eddyline.spark.layouts.layout_shards import LayoutShards
from eddyline.spark.layouts.shard_program import BroadcastProgram, ShardProgram, ShardSpec
from eddyline.spark.layouts.table_contents import ShardTables, TableContent
from eddyline.spark.partitioning.planned_query import LARGE_TABLE
from eddyline.spark.script import Script
from eddyline.spark.storage.job_checkpoint import Checkpoint

_log = logging.getLogger(__name__)


def shard_specs(
    spark: SparkSession,
    checkpoint: Checkpoint,
    script: Script,
    inputs: JobInputs,
    program: JobProgram,
) -> dict[int, ShardSpec]:
    """The shards of all layouts, by id."""
    tables = dict.fromkeys(name for of in program.layouts for name in of.group.tables)
    contents = {name: _content(name, spark, script, inputs, program) for name in tables}
    return {
        spec.shard: spec
        for of in program.layouts
        for spec in _specs_of(of, spark, checkpoint, script, program, contents)
    }


def _specs_of(
    of: LayoutShards,
    spark: SparkSession,
    checkpoint: Checkpoint,
    script: Script,
    program: JobProgram,
    contents: Mapping[str, TableContent],
) -> Iterator[ShardSpec]:
    """The shards of a layout, with one program for all of them; ``contents``: of tables."""
    group = of.group
    shard_program = ShardProgram(
        script.program_of(of.queries, of.in_parts),
        script.program_of(()),
        script.functions,
        (*group.streams, *group.live),
        of.read_elsewhere,
        program.options(of),
        program.strategy,
        of.layout.counted,
    )
    sent = BroadcastProgram(spark.sparkContext, shard_program)
    own = {name: contents[name] for name in group.tables}
    for cell, shard in enumerate(of.ids):
        yield ShardSpec(
            shard,
            checkpoint.run_key,
            of.described,
            cell,
            of.reports(cell),
            of.counts(cell),
            sent,
            tables=ShardTables(own, of.layout, cell),
        )


def _content(
    name: str, spark: SparkSession, script: Script, inputs: JobInputs, program: JobProgram
) -> TableContent:
    """The initial content of a table, for the workers."""
    is_large = script.statistics.rows(name) >= LARGE_TABLE
    rows = inputs.content(name)
    shards = sum(len(of.ids) for of in program.layouts if name in of.group.tables)
    if not is_large and shards > 1 and rows.num_rows >= LARGE_TABLE:
        _log.warning(
            "table '%s' has %d rows in each of %d shards; declared with rows = %d it is "
            "divided where that is possible, in a job with a new checkpoint",
            name,
            rows.num_rows,
            shards,
            rows.num_rows,
        )
    return TableContent(spark.sparkContext, rows, is_large=is_large)
