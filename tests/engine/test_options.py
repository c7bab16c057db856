"""Options: checked when they are built, saved by field, set by SQL before the first query."""

from __future__ import annotations

import io
import json
from dataclasses import fields
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine, EngineOptions, SqlError, StrategyOptions
from eddyline.engine.settings import SETTABLE, Settings
from eddyline.optimizer.prices import TYPICAL
from eddyline.optimizer.statistics import Statistics
from eddyline.testing import engine_with

STREAM = "CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts"
QUERY = "CREATE QUERY q AS SELECT x FROM s [NOW]"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chunk_rows": 0}, "chunk_rows must be at least 1, not 0"),
        ({"set_aside_after": 0}, "set_aside_after must be at least 1, not 0"),
        ({"keep": {"s": 2.0}}, "share of s to keep must be above 0 and at most 1, not 2.0"),
        ({"capacity": -1.0}, "capacity must be above 0 cores, not -1.0"),
        ({"decide": "later"}, "decide 'later'; did you mean 'after'? valid: after, before"),
        ({"decide_every": "0 seconds"}, "decide_every must be longer than zero"),
        ({"decide_every": "soon"}, "decide_every: 'soon' is not a duration"),
        ({"ahead_at_most": "-1 days"}, "ahead_at_most must be zero or longer"),
        ({"state": "driect"}, "state 'driect'; did you mean 'direct'?"),
        ({"feedback": "jot"}, "feedback 'jot'; did you mean 'jit'? valid: auto, doe, jit, off"),
        ({"mns": "blom"}, "mns 'blom'; did you mean 'bloom'?"),
        ({"executor": "edy"}, "executor 'edy'; did you mean 'eddy'?"),
        ({"policy": "lottery"}, "policy 'lottery'; "),
        ({"selections": "pul"}, "selections 'pul'; did you mean 'pull'?"),
        ({"schedule": "gredy"}, "schedule 'gredy'; did you mean 'greedy'?"),
        ({"partitions": 0}, "partitions must be at least 1, not 0"),
        ({"replan": 0.5}, "replan must be at least 1, not 0.5"),
        ({"lazy_expiry": "0 seconds"}, "lazy_expiry must be longer than zero"),
    ],
)
def test_values_that_are_not_valid_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as error:
        engine_with(**options)
    assert message in str(error.value)


def test_options_pass_through_json() -> None:
    options = EngineOptions(
        keep={"s": 0.5},
        capacity=2.0,
        set_aside_after=None,
        statistics=Statistics(rates={"s": 5.0}, values={("s", "x"): 7}),
        prices=TYPICAL,
    )
    assert EngineOptions.from_dict(json.loads(json.dumps(options.as_dict()))) == options
    assert EngineOptions.from_dict(EngineOptions().as_dict()) == EngineOptions()
    strategy = StrategyOptions(executor="tree", replan=float("inf"))
    assert StrategyOptions(**json.loads(json.dumps(strategy.as_dict()))) == strategy


def test_a_saved_engine_keeps_its_options() -> None:
    engine = Engine(EngineOptions(chunk_rows=7, prices=TYPICAL), StrategyOptions(state="direct"))
    engine.sql("SET decide_every = '3 minutes'")
    file = io.BytesIO()
    engine.save(file)
    file.seek(0)
    loaded = Engine.load(file)
    assert loaded.options == engine.options
    assert loaded.options.decide_every == "3 minutes"
    assert loaded.strategy == engine.strategy


def test_set_changes_an_option_before_the_first_query() -> None:
    engine = Engine()
    engine.sql(
        f"{STREAM}; SET chunk_rows = 5; SET capacity = 0.25; SET SET_ASIDE_AFTER = NULL;"
        "SET keep = 's=0.5, t = 1'; SET decide_every = '5 minutes'; SET ahead_at_most = '1 hour'"
    )
    options = engine.options
    assert (options.chunk_rows, options.capacity, options.set_aside_after) == (5, 0.25, None)
    assert (options.keep, options.decide_every) == ({"s": 0.5, "t": 1.0}, "5 minutes")
    assert engine.options.chunk_rows == 5
    assert not engine.decides
    engine.sql(QUERY)
    engine.wall_clock = lambda: 0
    rows = pa.table({"ts": [0, 3_600_000_001], "x": [1, 2]})
    assert engine.process({"s": rows}).bad["s"].num_rows == 1, "more than an hour ahead"


#: A value of each option that is not its default, as SET takes it, and as a value of Python.
VALUES: dict[str, tuple[str, Any]] = {
    "chunk_rows": ("5", 5),
    "keep": ("'s=0.5'", {"s": 0.5}),
    "capacity": ("0.25", 0.25),
    "memory": ("'4 GB'", "4 GB"),
    "decide_every": ("'5 minutes'", "5 minutes"),
    "decide": ("'after'", "after"),
    "costs": ("'modelled'", "modelled"),
    "set_aside_after": ("NULL", None),
    "ahead_at_most": ("'1 hour'", "1 hour"),
    "latency": ("'500 ms'", "500 ms"),
    "state": ("'direct'", "direct"),
    "partitions": ("3", 3),
    "views": ("TRUE", True),
    "negative_tuples_from": ("0.5", 0.5),
    "lazy_expiry": ("'5 minutes'", "5 minutes"),
    "feedback": ("'jit'", "jit"),
    "mns": ("'bloom'", "bloom"),
    "combinations": ("true", True),
    "nested_loops": ("'true'", True),
    "sharing": ("FALSE", False),
    "executor": ("'eddy'", "eddy"),
    "policy": ("'back-pressure'", "back-pressure"),
    "selections": ("'pull'", "pull"),
    "schedule": ("'swf'", "swf"),
    "optimize": ("FALSE", False),
    "replan": ("'inf'", float("inf")),
}


def test_every_option_with_a_text_is_set_by_sql_and_on_the_command_line() -> None:
    of_objects = {"statistics", "prices", "feedback_form"}
    names = {f.name for kind in (EngineOptions, StrategyOptions) for f in fields(kind)}
    assert set(VALUES) == set(SETTABLE) == names - of_objects
    engine, settings = Engine(), Settings()
    for name, (text, value) in VALUES.items():
        engine.sql(f"SET {name} = {text}")
        settings = settings.with_texts([f"{name} = {text.strip(chr(39))}"])
        for options, strategy in (
            (engine.options, engine.strategy),
            (settings.options, settings.strategy),
        ):
            found = getattr(strategy if hasattr(strategy, name) else options, name)
            assert (found, type(found)) == (value, type(value)), name


def test_a_strategy_that_is_set_is_the_one_that_runs() -> None:
    by_sql, by_python = Engine(), engine_with(executor="tree", optimize=False, state="direct")
    by_sql.sql("SET executor = 'tree'; SET optimize = FALSE; SET state = 'direct'")
    plans = []
    for engine in (by_sql, by_python, Engine()):
        engine.sql(f"{STREAM}; CREATE QUERY q AS SELECT DISTINCT x FROM s [RANGE 1 MINUTE]")
        query = engine.query("SELECT a.x FROM s [RANGE 1 MINUTE] AS a WHERE a.x > 1 AND 1 = 1")
        engine.process({"s": pa.table({"ts": [0, 1], "x": [1, 2]})})
        operators = [o["operator"] for o in engine.stats()["operators"]]
        plans.append((operators, query.explain()))
    assert plans[0] == plans[1] != plans[2]


def test_assignments_without_a_value_are_named() -> None:
    with pytest.raises(ValueError, match="write name=value, not 'chunk_rows'"):
        Settings().with_texts(["chunk_rows"])
    with pytest.raises(ValueError, match="did you mean 'chunk_rows'"):
        Settings().with_texts(["chunk_row=1"])
    assert Settings().with_texts(["CAPACITY = null"]) == Settings()


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("SET chunk_row = 5", "there is no option 'chunk_row'; did you mean 'chunk_rows'? "
         "nearest of 26: chunk_rows, schedule, ", 5),
        ("SET statistics = '1'", "there is no option 'statistics'; ", 5),
        ("SET state = 'driect'", "state 'driect'; did you mean 'direct'? valid: ", 13),
        ("SET state = NULL", "state must be upa, direct or negative-tuple, not NULL", 13),
        ("SET views = 'maybe'", "views must be TRUE or FALSE, not 'maybe'", 13),
        ("SET decide_every = NULL", "decide_every must be a duration, like '1 minute', not NULL",
         20),
        ("SET chunk_rows = 'many'", "chunk_rows must be an integer, not 'many'", 18),
        ("SET chunk_rows = NULL", "chunk_rows must be an integer, not NULL", 18),
        ("SET chunk_rows = -5", "chunk_rows must be at least 1, not -5", 18),
        ("SET capacity = 0", "capacity must be above 0 cores, not 0.0", 16),
        ("SET keep = 's'", "keep must be shares by stream, like 'trades=0.5, quotes=0.2', not 's'",
         12),
        ("SET keep = 's=2'", "the share of s to keep must be above 0 and at most 1, not 2.0", 12),
        ("SET chunk_rows", "expected = and the value of 'chunk_rows'", None),
        ("SET chunk_rows = x", "expected a number, a text in quotes, TRUE, FALSE or NULL", 18),
        ("SET chunk_rows = - 'x'", "expected a number, a text in quotes, TRUE, FALSE or NULL", 20),
    ],
)  # fmt: skip
def test_mistakes_in_set_are_named(text: str, message: str, column: int | None) -> None:
    with pytest.raises(SqlError) as error:
        Engine().sql(text)
    assert error.value.message.startswith(message)
    if column is not None:
        assert error.value.column == column


def test_options_are_fixed_once_there_is_a_query() -> None:
    engine = Engine()
    engine.sql(f"{STREAM}; {QUERY}")
    with pytest.raises(SqlError, match="write SET chunk_rows before the first"):
        engine.sql("SET chunk_rows = 5")
    engine.sql("DROP QUERY q; SET chunk_rows = 5")
    assert engine.options.chunk_rows == 5
