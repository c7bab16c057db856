"""The sinks of a job: those that the script declares, and those that it had at its first start."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence

from eddyline.engine.ingest.row_reader import bad_schema, late_schema
from eddyline.engine.query import Query
from eddyline.spark.delivery.sink_factory import SinkFactory
from eddyline.spark.formats.format_options import sink_format
from eddyline.spark.job_inputs import JobInputs
from eddyline.spark.layouts.job_program import JobProgram
from eddyline.spark.operation.running_queries import RunningQueries
from eddyline.spark.operation.script_delta import with_sink
from eddyline.spark.script import QueryGroup, Script
from eddyline.spark.sinks.secrets import public_options
from eddyline.spark.sinks.sink_bases import Target
from eddyline.spark.sources.format_check import side_options
from eddyline.spark.sources.sources import resolve_path
from eddyline.spark.storage.directory import Directory, path_segment
from eddyline.spark.storage.job_checkpoint import Checkpoint
from eddyline.spark.storage.program_file import BAD_ROWS, read_sinks, write_sinks

_log = logging.getLogger(__name__)


def open_sinks(
    sinks: SinkFactory,
    queries: Mapping[str, Query],
    groups: Sequence[QueryGroup],
    inputs: JobInputs,
    checkpoint: Checkpoint,
) -> None:
    """Open the sinks of queries and side outputs.

    Raises:
        DataError: an option is missing or wrong, or two sinks write to the same place.
    """
    sinks.open_bad_rows(f"{checkpoint.path}/{BAD_ROWS}")
    for group in groups:
        sinks.open_first(queries[name] for name in group.queries)
        for name in inputs.names(group):
            for target, options in _side_outputs(name, inputs, checkpoint):
                sinks.open_side(target, options)


def _side_outputs(
    name: str, inputs: JobInputs, checkpoint: Checkpoint
) -> Iterator[tuple[Target, Mapping[str, str]]]:
    """Sink options of late and bad rows: declared (``late_sink`` ...), or the checkpoint."""
    definition = inputs.definition(name)
    options = resolve_path(definition.options, inputs.base)
    for target in (
        Target("late", name, late_schema(definition.schema)),
        Target("bad", name, bad_schema(definition.schema)),
    ):
        own = side_options(options, f"{target.kind}_")
        path = f"{checkpoint.path}/{target.kind}/{path_segment(name)}"
        yield target, own or {"sink": "parquet", "path": path}


def former_queries(script: Script, program: JobProgram) -> dict[str, Query]:
    """The queries of a script that had another sink at the first start of the job, with that: the
    shards have it until they execute an ALTER QUERY.
    """
    first = program.first_sinks.items()
    return {name: with_sink(script.queries[name], options) for name, options in first}


def alter_to(
    script: Script, running: RunningQueries, checkpoint: Directory, former: Mapping[str, Query]
) -> None:
    """Give queries the sinks of a script, where these are others than at the last start. A sink
    that was altered while the job ran stays if the script is the same.

    Raises:
        DataError, StateError: as of :meth:`RunningQueries.alter`.
    """
    seen = read_sinks(checkpoint)
    if seen is None and not former:
        return
    wanted = {name: public_options(query.options) for name, query in script.queries.items()}
    before = seen or wanted | {name: dict(query.options) for name, query in former.items()}
    if before == wanted:
        return
    for name, options in wanted.items():
        query = running.queries.get(name)
        if query is None or before.get(name) == options:
            continue
        if public_options(query.options) != options:
            _log.warning(
                "query '%s': the script has another sink than at the last start: '%s' from now on",
                name,
                sink_format(options),
            )
            running.alter(name, script.queries[name].options)
    write_sinks(checkpoint, wanted)
