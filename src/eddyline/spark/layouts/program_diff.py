"""Differences between two programs, in words.

The meaning of statements is compared, not their text: white space, comments and the case of
keywords make no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from eddyline.algebra.catalog import ColumnSources, Emit, StreamDef, TableDef
from eddyline.algebra.functions import CodeFunction
from eddyline.algebra.json_paths import path_text
from eddyline.algebra.plan import Plan
from eddyline.errors import EddylineError, StateError
from eddyline.spark.script import Script
from eddyline.spark.sinks.secrets import public_options
from eddyline.spark.storage.program_file import SavedProgram
from eddyline.sql.definitions import SIDE_PREFIXES
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery, CreateStream, CreateTable, CreateView
from eddyline.types import sql_type

#: Maximum number of differences in a message.
_MAX_REPORTED: Final = 5
#: Options that may differ: the checkpoint keeps the prices of the first start.
_MAY_DIFFER: Final = ("prices",)
#: What inputs have that is compared entry by entry.
_COMPARED: Final = ("name", "schema", "options", "computed", "event_time", "columns")


def require_same(
    checkpoint: str,
    before: SavedProgram,
    now: SavedProgram,
    functions: Sequence[CodeFunction] = (),
) -> None:
    """Check that the program of a checkpoint is the program to run.

    Args:
        checkpoint: its path. before: its program. now: the program to run.
        functions: of users, called by statements of both.

    Raises:
        StateError: they differ; the message names the differences.
    """
    found = list(differences(before, now, functions))
    if not found:
        return
    reported = "; ".join(found[:_MAX_REPORTED])
    more = f"; and {len(found) - _MAX_REPORTED} more" if found[_MAX_REPORTED:] else ""
    raise StateError(
        f"the checkpoint {checkpoint} belongs to another program: {reported}{more}. Use another "
        "checkpoint, or the statements and options of that program"
    )


def differences(
    before: SavedProgram, now: SavedProgram, functions: Sequence[CodeFunction] = ()
) -> Iterator[str]:
    """Each difference in a few words; 'there' is the checkpoint, 'here' the program to run."""
    yield from _changed("max_shards", before.max_shards, now.max_shards)
    for old, new in ((before.options, now.options), (before.strategy, now.strategy)):
        there, here = old.as_dict(), new.as_dict()
        for name in (n for n in there if n not in _MAY_DIFFER):
            yield from _changed(name, there[name], here[name])
    for signature in _only(before.functions, now.functions):
        yield f"the function {signature} is missing here"
    for signature in _only(now.functions, before.functions):
        yield f"the function {signature} is not there"
    yield from _definitions(before, now)
    others = list(_queries(before, now, functions))
    yield from others
    if before.max_shards == now.max_shards and not others:
        yield from _layouts(before, now)


def _layouts(before: SavedProgram, now: SavedProgram) -> Iterator[str]:
    """Layouts follow from the program: they differ if another version of Eddyline made them."""
    old, new = ([(x.text, x.shards, sorted(x.queries)) for x in p.layouts] for p in (before, now))
    for there in old:
        if there not in new:
            yield f"the rows of query '{there[2][0]}' are divided in another way: {there[0]} there"


def _definitions(before: SavedProgram, now: SavedProgram) -> Iterator[str]:
    """Differences of streams, tables and views."""
    old, new = (
        {f"{made.kind} '{made.name}'": made.sql for made in program.created if made.kind != "query"}
        for program in (before, now)
    )
    for what in _only(old, new):
        yield f"{what} is missing here"
    for what in _only(new, old):
        yield f"{what} is not there"
    for what in (w for w in old if w in new and old[w] != new[w]):
        match parse(old[what])[0], parse(new[what])[0]:
            case CreateStream(definition=a), CreateStream(definition=b):
                yield from _of_inputs(what, a, b)
            case CreateTable(definition=c), CreateTable(definition=d):
                yield from _of_inputs(what, c, d)
            case CreateView(select=e), CreateView(select=f) if e.ast != f.ast:
                yield f"{what} has another SELECT"


def _of_inputs(what: str, before: StreamDef | TableDef, now: StreamDef | TableDef) -> Iterator[str]:
    types = [{f.name: sql_type(f.type) for f in made.schema} for made in (before, now)]
    yield from _entries(f"{what}: column", *types)
    if types[0] == types[1] and list(types[0]) != list(types[1]):
        yield f"{what}: its columns have another order"
    yield from _entries(f"{what}: option", *map(_source_options, (before, now)))
    yield from _entries(f"{what}: computed column", *map(_computed, (before, now)))
    there, here = before.columns, now.columns
    yield from _entries(f"{what}: PATH of column", _paths(there), _paths(here))
    yield from _entries(f"{what}: METADATA of column", there.metadata, here.metadata)
    for setting in before.__dataclass_fields__:
        if setting not in _COMPARED:
            yield from _changed(
                f"{what}: {setting}", getattr(before, setting), getattr(now, setting)
            )


def _source_options(definition: StreamDef | TableDef) -> dict[str, str]:
    """The options without those of the sinks of side outputs."""
    options = definition.options.items()
    return {name: value for name, value in options if not name.startswith(SIDE_PREFIXES)}


def _paths(columns: ColumnSources) -> dict[str, str]:
    return {name: path_text(path) for name, path in columns.paths.items()}


def _computed(definition: StreamDef | TableDef) -> dict[str, str]:
    """The expressions of computed columns as text; that of an event time is its name."""
    if isinstance(definition, TableDef):
        return {}
    return {name: str(expression) for name, expression in definition.computed.items()}


def _queries(
    before: SavedProgram, now: SavedProgram, functions: Sequence[CodeFunction]
) -> Iterator[str]:
    old, new = before.queries, now.queries
    for name in _only(old, new):
        yield f"query '{name}' is missing here"
    for name in _only(new, old):
        yield f"query '{name}' is not there"
    changed = [name for name in old if name in new and old[name] != new[name]]
    if not changed:
        return
    try:  # both parsed from text, so that the way in which they were made makes no difference
        scripts = (Script.of(before.statements, functions), Script.of(now.statements, functions))
    except EddylineError as e:
        names = "', '".join(changed)
        yield f"the text of query '{names}' differs, and cannot be compared: {e}"
        return
    for name in changed:
        yield from _of_query(name, *(_meaning(script, name) for script in scripts))


def first_sinks(before: SavedProgram, script: Script) -> dict[str, dict[str, str]]:
    """By query, the options of its sink in the program of a checkpoint, where those of a script
    differ; sinks are no part of what has to be the same.
    """
    found = {}
    for name, sql in before.queries.items():
        if name in script.queries and sql != script.statement(name):
            (statement,) = parse(sql)
            assert isinstance(statement, CreateQuery), "it is a query"
            if dict(statement.options) != public_options(script.queries[name].options):
                found[name] = dict(statement.options)
    return found


#: Plan, EMIT, ON OVERLOAD SHED, the tables that a query reads, and its BY by stream.
_Meaning = tuple[Plan, Emit, bool, object, Mapping[str, str]]


def _meaning(script: Script, name: str) -> _Meaning:
    query = script.queries[name]
    by = {stream: f"BY {utility}" for stream, utility in sorted(query.utilities.items())}
    return query.plan, query.emit, query.sheds, script.tables_of(name), by


def _of_query(
    name: str,
    before: _Meaning,
    now: _Meaning,
) -> Iterator[str]:
    what = f"query '{name}'"
    if (before[0], before[3]) != (now[0], now[3]):
        yield f"{what} has another SELECT"
    yield from _changed(f"{what}: EMIT", before[1], now[1])
    yield from _changed(f"{what}: ON OVERLOAD SHED", before[2], now[2])
    yield from _entries(f"{what}: ON OVERLOAD SHED BY of stream", before[4], now[4])


def _entries(what: str, before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    for name in _only(before, now):
        yield f"{what} '{name}' is missing here"
    for name in _only(now, before):
        yield f"{what} '{name}' is not there"
    for name in (n for n in before if n in now):
        yield from _changed(f"{what} '{name}'", before[name], now[name])


def _changed(what: str, before: Any, now: Any) -> Iterator[str]:
    if before != now:
        yield f"{what} is {_shown(before)} there and {_shown(now)} here"


def _shown(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)


def _only(these: Any, others: Any) -> list[str]:
    return [name for name in these if name not in others]
