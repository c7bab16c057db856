"""A checkpoint belongs to a program, independent of its formatting; differences are named."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from eddyline import EngineOptions, StateError
from eddyline.spark.layouts.program_diff import differences, require_same
from eddyline.spark.script import Script
from eddyline.spark.storage.directory import LocalDirectory
from eddyline.spark.storage.program_file import (
    NAME,
    SavedLayout,
    SavedProgram,
    SavedStatement,
    read_program,
    write_program,
)

DEFINITIONS = (
    "CREATE STREAM s (ts TIMESTAMP, x BIGINT, y STRING) TIMESTAMP BY ts LATENESS 5 SECONDS "
    "WITH (source = 'parquet', path = '/in')",
    "CREATE TABLE names (x BIGINT, name STRING)",
    "CREATE VIEW v AS SELECT x FROM s [RANGE 5 SECONDS] WHERE x > 1",
)
QUERIES = {
    "big": "CREATE QUERY big AS SELECT x FROM v WHERE x > 10 "
    "WITH (sink = 'parquet', path = '/o', shared = 'true')",
    "sums": "CREATE QUERY sums AS SELECT y, COUNT(*) AS n FROM s [RANGE 1 MINUTE] GROUP BY y",
}


def program(
    definitions: tuple[str, ...] = DEFINITIONS, queries: dict[str, str] = QUERIES
) -> SavedProgram:
    created = Script.of((*definitions, *queries.values())).definitions
    return SavedProgram(
        1,
        1,
        tuple(SavedStatement(d.kind, d.name, d.sql) for d in created),
        (SavedLayout((0,), tuple(queries), 0.25),),
    )


def replaced(old: str, new: str) -> SavedProgram:
    """The program with some words of it replaced."""
    before = "\0".join((*DEFINITIONS, *QUERIES.values()))
    assert old in before
    texts = before.replace(old, new).split("\0")
    return program(tuple(texts[:3]), dict(zip(QUERIES, texts[3:], strict=True)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SELECT x FROM v", "select  x\n\tfrom v"),
        ("WHERE x > 10", "WHERE x>10 -- large\n"),
        ("SELECT y,", "SELECT /* by */ y,"),
        ("COUNT(*) AS n", "count(*) n"),
        ("FROM s [RANGE 1 MINUTE]", "FROM S [range 60 seconds]"),
        ("TIMESTAMP BY ts", "timestamp by  ts"),
        ("LATENESS 5 SECONDS", "LATENESS 5000 MILLISECONDS"),
        ("(ts TIMESTAMP, x BIGINT", "(ts timestamp,\n x bigint"),
        ("[RANGE 5 SECONDS] WHERE", "[RANGE 5 SECONDS]\nwhere"),
        ("'/o'", "'/p'"),
        ("WITH (sink = 'parquet', path = '/o', shared = 'true')", ""),
        ("path = '/in'", "path = '/in', late_sink = 'csv', late_path = '/late'"),
    ],
)
def test_format_and_sinks_of_a_statement_make_no_difference(old: str, new: str) -> None:
    assert list(differences(program(), replaced(old, new))) == []


def test_the_order_of_statements_makes_no_difference() -> None:
    over_big = "CREATE VIEW w AS SELECT x FROM big"
    before = program((*DEFINITIONS, QUERIES["big"], over_big), {"sums": QUERIES["sums"]})
    now = program((DEFINITIONS[0], QUERIES["sums"], *DEFINITIONS[1:], QUERIES["big"], over_big), {})
    layouts = (SavedLayout((0,), tuple(QUERIES)),)
    there, here = (dataclasses.replace(p, layouts=layouts) for p in (before, now))
    assert there.created != here.created
    assert list(differences(there, here)) == []
    narrower = [
        s._replace(sql=f"{s.sql} WHERE x > 11") if s.name == "w" else s for s in now.created
    ]
    (found,) = differences(there, dataclasses.replace(here, created=tuple(narrower)))
    assert found == "view 'w' has another SELECT"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("x > 10", "x > 11", "query 'big' has another SELECT"),
        ("x FROM v", "x AS z FROM v", "query 'big' has another SELECT"),
        ("GROUP BY y", "GROUP BY y EMIT CHANGES", "'sums': EMIT is EMIT INSERTS there and EMIT CH"),
        ("GROUP BY y", "GROUP BY y ON OVERLOAD SHED", "ON OVERLOAD SHED is False there and True"),
        ("x BIGINT, y", "x INT, y", "stream 's': column 'x' is 'BIGINT' there and 'INT' here"),
        ("y STRING)", "y STRING, z INT)", "stream 's': column 'z' is not there"),
        ("x BIGINT, y STRING", "y STRING, x BIGINT", "its columns have another order"),
        ("5 SECONDS WITH", "6 SECONDS WITH", "lateness_us is 5000000 there and 6000000 here"),
        ("path = '/in'", "path = '/on'", "stream 's': option 'path' is '/in' there and '/on' here"),
        ("name STRING", "name DATE", "table 'names': column 'name' is 'STRING' there and 'DATE'"),
        ("WHERE x > 1\0", "WHERE x > 2\0", "view 'v' has another SELECT"),
    ],
)
def test_what_differs_is_named(old: str, new: str, message: str) -> None:
    with pytest.raises(StateError, match="the checkpoint /c belongs to another program") as caught:
        require_same("/c", program(), replaced(old, new))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "messages"),
    [
        ("t TIMESTAMP AS (timestamp_millis(ms))", "t timestamp as (TO_TIMESTAMP_MILLIS( ms ))", []),
        (
            "timestamp_millis(ms))) TIMESTAMP BY t",
            "timestamp_seconds(ms))) TIMESTAMP BY t",
            [
                "stream 's': computed column 't' is 'timestamp_millis(ms)' there and "
                "'timestamp_seconds(ms)' here"
            ],
        ),
        (
            "t TIMESTAMP AS (timestamp_millis(ms))",
            "t TIMESTAMP",
            ["stream 's': computed column 't' is missing here"],
        ),
        (
            "TIMESTAMP BY t",
            "TIMESTAMP BY (timestamp_millis(ms))",
            ["stream 's': timestamp is 't' there and 'timestamp_millis(ms)' here"],
        ),
    ],
)
def test_other_expressions_are_named(old: str, new: str, messages: list[str]) -> None:
    text = "CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (timestamp_millis(ms))) TIMESTAMP BY t"
    there, here = (program((created,), {}) for created in (text, text.replace(old, new)))
    assert text.replace(old, new) != text
    assert list(differences(there, here)) == messages


def test_queries_that_were_added_and_removed_are_named() -> None:
    fewer = {"big": QUERIES["big"]}
    assert list(differences(program(), program(queries=fewer))) == ["query 'sums' is missing here"]
    assert list(differences(program(queries=fewer), program())) == ["query 'sums' is not there"]
    without_table = program((DEFINITIONS[0], DEFINITIONS[2]))
    assert list(differences(program(), without_table)) == ["table 'names' is missing here"]


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("max_shards", 2, "max_shards is 1 there and 2 here"),
        ("functions", ("f(BIGINT) -> BIGINT",), "the function f(BIGINT) -> BIGINT is not there"),
    ],
)
def test_settings_are_named(setting: str, value: Any, message: str) -> None:
    now = dataclasses.replace(program(), **{setting: value})
    assert list(differences(program(), now)) == [message]


@pytest.mark.parametrize(
    ("kind", "option", "value", "message"),
    [
        ("options", "capacity", 0.5, "capacity is None there and 0.5 here"),
        ("options", "decide_every", "1 hour", "decide_every is '1 minute' there and '1 hour' here"),
        ("options", "keep", {"s": 0.5}, "keep is {} there and {'s': 0.5} here"),
        ("strategy", "executor", "tree", "executor is 'auto' there and 'tree' here"),
    ],
)
def test_options_are_named(kind: str, option: str, value: Any, message: str) -> None:
    options = dataclasses.replace(getattr(program(), kind), **{option: value})
    now = dataclasses.replace(program(), **{kind: options})
    assert list(differences(program(), now)) == [message]


def test_a_few_differences_are_reported() -> None:
    many = {f"q{i}": f"CREATE QUERY q{i} AS SELECT x FROM s [NOW]" for i in range(9)}
    with pytest.raises(StateError, match=r"query 'q4' is not there; and 4 more\. Use another"):
        require_same("/c", program(queries={}), program(queries=many))


def test_rows_that_are_divided_in_another_way_are_named() -> None:
    def divided(text: str, *shards: int) -> SavedProgram:
        layout = SavedLayout(shards, tuple(QUERIES), 1, text)
        return dataclasses.replace(program(), layouts=(layout,))

    assert list(differences(divided("by x", 0, 1), divided("by x", 0, 1))) == []
    (found,) = differences(divided("by x", 0, 1), divided("by y", 0, 1))
    assert found == "the rows of query 'big' are divided in another way: by x there"


# -- the file ----------------------------------------------------------


@pytest.fixture
def checkpoint(tmp_path: Path) -> LocalDirectory:
    return LocalDirectory(tmp_path)


def test_the_program_is_read_as_it_was_written(checkpoint: LocalDirectory) -> None:
    saved = dataclasses.replace(
        program(),
        options=EngineOptions(keep={"s": 0.5}, capacity=0.25),
        functions=("f(INT) -> INT",),
    )
    assert read_program(checkpoint) is None
    write_program(checkpoint, saved)
    assert read_program(checkpoint) == saved


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "cannot be read .*Expecting value.*restore the file"),
        ('{"format": 10, "shar', "cannot be read .*restore the file"),
        ("[]", "cannot be read"),
        ('{"format": 10}', "it lacks 'shards'"),
        ('{"format": 10, "shards": 1, "max_shards": 1, "created": 3}', "cannot be read"),
        (
            '{"format": 10, "shards": 1, "max_shards": 1, "created": [["rule", "r", ""]]}',
            r"cannot be read \(there is no kind 'rule'\)",
        ),
        ('{"format": 9}', "is of format 9; this version of Eddyline reads format 10"),
    ],
)
def test_a_program_that_cannot_be_read_is_named(
    checkpoint: LocalDirectory, tmp_path: Path, content: str, message: str
) -> None:
    (tmp_path / NAME).write_text(content)
    with pytest.raises(StateError, match=message) as caught:
        read_program(checkpoint)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("left", ["spark/offsets/0", "control/sql-0-1-x.json"])
def test_a_program_that_is_missing_where_a_job_has_run_is_named(
    checkpoint: LocalDirectory, tmp_path: Path, left: str
) -> None:
    (tmp_path / left).parent.mkdir(parents=True)
    (tmp_path / left).touch()
    with pytest.raises(StateError, match=r"program\.json is missing, although .* restore"):
        read_program(checkpoint)
