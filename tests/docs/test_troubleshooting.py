"""Each message of the page about messages is produced by the code; no produced one is missing."""

from __future__ import annotations

import doctest
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest

from eddyline import Engine, EngineOptions
from eddyline.errors import EddylineError
from eddyline.extras import extras_named
from eddyline.spark.layouts.program_diff import require_same
from eddyline.spark.script import Script
from eddyline.spark.sources.option_check import check_options
from eddyline.spark.storage.directory import LocalDirectory
from eddyline.spark.storage.lease import Lease
from eddyline.spark.storage.program_file import SavedProgram, SavedStatement
from eddyline.sql.parser import parse
from golden import cases

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "troubleshooting.md"
MISTAKES: Final = ROOT / "tests" / "sql" / "golden" / "typical_mistakes.sql"
TEXTS: Final = re.findall(r"^```text\n(.*?)\n```$", PAGE.read_text("utf-8"), re.M | re.S)
OF_SQL: Final = [text for text in TEXTS if text.startswith("line ")]
OTHERS: Final = [text for text in TEXTS if not text.startswith("line ")]

NOW: Final = 1_772_438_400_000_000  # 2026-03-02 08:00
ROW: Final[Mapping[str, Any]] = {"ts": "2026-03-02T08:00:00Z", "symbol": "A", "price": 1.0}
STREAM: Final = "CREATE STREAM trades (ts TIMESTAMP, symbol STRING, price DOUBLE) TIMESTAMP BY ts"
QUERY: Final = "SELECT symbol, 1 / price AS x FROM trades [RANGE 1 MINUTE]"


def engine(options: EngineOptions = EngineOptions()) -> Engine:  # noqa: B008 (it is frozen)
    """An engine with a stream and a query."""
    made = Engine(options)
    made.sql(f"{STREAM} AHEAD AT MOST 1 HOUR")
    made.query(QUERY, name="q")
    return made


def error(act: Callable[[], object]) -> str:
    """The message of an error, without the position and the statement."""
    with pytest.raises(EddylineError) as caught:
        act()
    return re.sub(r"^line \d+, column \d+: ", "", str(caught.value)).partition("\n  ")[0]


def bad(**values: Any) -> str:
    """The reason of a bad row."""
    found = engine().process({"trades": {**ROW, **values}}, now=NOW).bad
    (reasons,) = (rows["_reason"].to_pylist() for rows in found.values())
    return str(reasons[0])


def late() -> str:
    made = engine()
    made.push("trades", {**ROW, "ts": "2026-03-02T08:10:00Z"})
    return str(made.push("trades", ROW).late["trades"]["_reason"][0])


def set_aside() -> str:
    made = engine(EngineOptions(set_aside_after=2))
    made.process({"trades": [{**ROW, "price": 0.0}] * 8})
    return error(made.queries["q"].snapshot)


def last_line(made: Engine, statement: str) -> str:
    (text,) = made.sql(statement)
    return str(text).splitlines()[-1]


def waiting() -> str:
    made = Engine()
    made.sql(f"{STREAM}; CREATE STREAM quotes (ts TIMESTAMP, symbol STRING) TIMESTAMP BY ts")
    made.query("SELECT t.symbol FROM trades [NOW] t, quotes [NOW] q WHERE t.symbol = q.symbol", "q")
    made.push("trades", ROW)
    return last_line(made, "EXPLAIN QUERY q")


def options_of(text: str) -> str:
    """The message about the options of a script."""

    def check() -> None:
        statements = parse(text)
        for statement in statements:
            check_options(statement, text)
        Script.of((text,)).check_whole(statements, text)

    return error(check)


def other_program() -> str:
    def program(text: str) -> SavedProgram:
        created = Script.of((STREAM, text)).definitions
        return SavedProgram(1, 1, tuple(SavedStatement(d.kind, d.name, d.sql) for d in created), ())

    before = program("CREATE VIEW v AS SELECT symbol FROM trades")
    return error(
        lambda: require_same("/c", before, program("CREATE VIEW v AS SELECT 1 FROM trades"))
    )


def leased(directory: Path) -> str:
    place = LocalDirectory(f"file:{directory}")
    lease = Lease.take(place)
    try:
        return error(lambda: Lease.take(place))
    finally:
        lease.release()


def missing_package() -> str:
    def load() -> None:
        with extras_named():
            raise ModuleNotFoundError("No module named 'psycopg'", name="psycopg")

    return error(load)


def produced(directory: Path) -> Iterator[str]:
    """The messages that are not about statements."""
    yield waiting()
    yield last_line(engine(), "EXPLAIN SELECT COUNT(*) AS n FROM trades [RANGE 1 MINUTE]")
    yield error(lambda: engine().query(QUERY, name="q"))
    yield error(lambda: engine().sql("DROP STREAM trades"))
    yield error(lambda: engine().sql("SET capacity = 2"))
    yield bad(price="cold")
    yield bad(ts=None)
    yield bad(ts=1_772_438_400_000)
    yield bad(ts="2026-03-03T08:00:00Z")
    yield late()
    yield bad(price=0.0)
    yield set_aside()
    yield error(lambda: engine().process({"trades": pa.table({"ts": [1], "symbol": ["A"]})}))
    yield error(lambda: engine().push("trade", ROW))
    yield error(lambda: engine().process({}, watermark="soon"))
    for given in (
        "source = 'cvs', path = 'x'",
        "source = 'csv'",
        "source = 'csv', path = 'x', headr = 'true'",
        "source = 'kafka', kafka.bootstrap.servers = 'localhost:9092', subscribe = 't'",
    ):
        yield options_of(f"{STREAM} WITH ({given})")
    sink = "CREATE QUERY q AS SELECT symbol FROM trades [NOW] WITH (sink = 'parquett', path = 'x')"
    yield error(lambda: Script.of((STREAM, sink)))
    yield leased(directory)
    yield other_program()
    (directory / "x").write_bytes(b"abc")
    yield error(lambda: Engine.load(directory / "x"))
    yield missing_package()


@cache
def messages_of_mistakes() -> frozenset[str]:
    return frozenset(answer.partition(": ")[2] for _, answer in cases(MISTAKES))


@pytest.mark.parametrize("text", OF_SQL)
def test_a_message_about_a_statement_is_that_of_a_typical_mistake(text: str) -> None:
    assert text in messages_of_mistakes()


def test_the_other_messages_are_produced_in_this_order(tmp_path: Path) -> None:
    found = list(produced(tmp_path))
    same = doctest.OutputChecker().check_output
    for shown, message in zip(OTHERS, found, strict=True):
        assert same(f"{shown}\n", f"{message}\n", doctest.ELLIPSIS), message


def test_there_are_enough_of_both() -> None:
    assert len(OF_SQL) >= 20
    assert len(OTHERS) >= 20
