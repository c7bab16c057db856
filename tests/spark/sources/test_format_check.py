"""Checks of options of sources and sinks without Spark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eddyline.errors import DataError, EddylineError
from eddyline.spark.formats.format_options import OptionError
from eddyline.spark.script import Script
from eddyline.spark.sinks.sinks import SINKS
from eddyline.spark.sources.format_check import Declared, check_sink, check_source
from eddyline.spark.sources.option_check import check_options
from eddyline.sql.parser import parse
from eddyline.sql.statements import AlterQuery
from protobuf_orders import descriptors, orders

ROOT = Path(__file__).parents[3]
STREAM = "CREATE STREAM s (ts TIMESTAMP, v BIGINT) TIMESTAMP BY ts"
SELECT = "SELECT v FROM s [NOW]"


@pytest.mark.parametrize(
    ("options", "of", "valid"),
    [
        ({}, "stream", True),
        ({"source": "ORC", "path": "x"}, "table", True),
        ({"source": "rate"}, "stream", True),
        ({"source": "rate"}, "table", False),
        ({"source": "jdbc", "url": "jdbc:x", "query": "y"}, "table", True),
        ({"source": "jdbc", "url": "jdbc:x", "query": "y"}, "changing table", False),
        ({"source": "csv", "path": "x", "ts_unit": "s"}, "table", False),
        ({"source": "csv", "path": "x", "cleansource": "delete"}, "stream", True),
        ({"source": "text", "path": "x", "header": "true"}, "stream", False),
        ({"path": "x"}, "stream", False),
    ],
)
def test_sources(options: dict[str, str], of: Declared, valid: bool) -> None:
    if valid:
        assert check_source("s", options, of) == []
        return
    with pytest.raises(OptionError, match=r"^(stream|table) 's'"):
        check_source("s", options, of)


def test_the_wrong_option_is_reported() -> None:
    with pytest.raises(OptionError, match=r"did you mean 'kafka\.bootstrap\.servers'") as caught:
        check_sink("q", {"sink": "kafka", "kafka.bootstrap.server": "b"}, of_query=True)
    assert (caught.value.option, caught.value.part) == ("kafka.bootstrap.server", "name")
    with pytest.raises(OptionError) as caught:
        check_source("s", {"source": "csv", "path": "x", "late_sink": "cvs"}, "stream")
    assert (caught.value.option, caught.value.part) == ("late_sink", "value")


def test_side_outputs_are_not_shared() -> None:
    options = {"sink": "csv", "path": "x", "shared": "true"}
    assert check_sink("q", options, of_query=True) == []
    with pytest.raises(OptionError, match="has no option 'shared'"):
        check_sink("late:s", options, of_query=False)


def test_options_from_python_have_no_place() -> None:
    script = Script()
    list(script.run(STREAM))
    with pytest.raises(DataError, match=r"^'q': there is no sink 'parket'; did you mean 'parquet'"):
        script.query("q", SELECT, {"sink": "parket", "path": "x"})
    query = script.query("q", SELECT, {"SINK": "parquet", "Path": "x"})  # the name is still free
    assert query.options == {"sink": "parquet", "path": "x"}


def test_statements_before_a_wrong_one_have_taken_effect() -> None:
    script = Script()
    with pytest.raises(EddylineError, match="'memry'"):
        list(script.run(f"{STREAM}; CREATE QUERY q AS {SELECT} WITH (sink = 'memry')"))
    assert list(script.streams) == ["s"] and not script.queries


AVRO = """{"type": "record", "name": "r", "fields": [{"name": "ts", "type": "long"},
    {"name": "o", "type": {"type": "record", "name": "o", "fields": []}}]}"""


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ("", "", "needs the option 'schema' or 'schema_file' or 'schema_registry'"),
        ("", f", schema = '{AVRO}'", None),
        ("", f", shema = '{AVRO}'", "did you mean 'schema'"),
        ("", ", schema = '{'", "the schema is no JSON"),
        ("", ", schema_file = 'none.avsc'", "none.avsc' cannot be read: .*No such file"),
        ("", f", schema = '{AVRO}', schema_file = 'x'", "both say the schema: leave out one"),
        ("", f", schema = '{AVRO}', wire = 'confluen'", "did you mean 'confluent'"),
        ("", f", schema = '{AVRO}', wire = 'confluent'", "needs the option 'schema_id'"),
        ("", f", schema = '{AVRO}', wire = 'confluent', schema_id = '-1'", "is no number of a sch"),
        ("", f", schema = '{AVRO}', schema_id = '7'", "is for wire = 'confluent'"),
        ("", ", schema_registry = 'localhost'", "'localhost' is no URL"),
        ("", ", schema_registry = 'http://localhost', subject = 's'", None),
        ("", ", schema_registry = 'http://localhost'", "needs the option 'subject'"),
        (", x BIGINT", f", schema = '{AVRO}'", "column 'x': a record has no field 'x'; "),
        (", x INT PATH '$.o.y'", f", schema = '{AVRO}'", "column 'x': 'o' has no field 'y'"),
    ],
)
def test_records_of_avro(columns: str, options: str, message: str | None, tmp_path: Path) -> None:
    text = (
        f"CREATE STREAM s (ts TIMESTAMP{columns}) TIMESTAMP BY ts WITH (source = 'text', "
        f"path = 'x', format = 'avro'{options})"
    )
    if message is None:
        list(Script().run(text, tmp_path))
        return
    with pytest.raises(EddylineError, match=message):
        list(Script().run(text, tmp_path))


FILE = ", descriptor_file = 'o.desc', message = 'shop.Order'"


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ("", "", "needs the option 'descriptor_file' or 'schema_registry'"),
        ("", FILE, None),
        ("", ", descriptor_file = 'o.desc'", "descriptor_file needs the option 'message', the ty"),
        ("", ", descriptorfile = 'o.desc'", "did you mean 'descriptor_file'"),
        ("", FILE.replace("o.", "n."), "the descriptors '.*n.desc' cannot be read: .*No such file"),
        (
            "",
            FILE.replace("Order", "Ordr"),
            "there is no message 'shop.Ordr'; did you mean 'shop.O",
        ),
        ("", FILE.replace("o.", "bad."), "bad.desc': these are no descriptors: protoc --include_i"),
        ("", FILE + ", schema_registry = 'http://x'", "both say the schema: leave out one"),
        ("", FILE + ", wire = 'confluen'", "did you mean 'confluent'"),
        ("", FILE + ", wire = 'confluent'", None),
        ("", FILE + ", wire = 'confluent', schema_id = '7'", None),
        ("", FILE + ", wire = 'confluent', schema_id = '-1'", "is no number of a schema"),
        ("", FILE + ", schema_id = '7'", "is for wire = 'confluent' with 'descriptor_file'; a reg"),
        ("", ", schema_registry = 'localhost'", "'localhost' is no URL"),
        ("", ", schema_registry = 'http://localhost', subject = 's'", None),
        ("", ", schema_registry = 'http://localhost'", "needs the option 'subject'"),
        (", x INT", FILE, "column 'x': a message has no field 'x'; "),
        (
            ", id STRUCT<a INT>",
            FILE,
            "column 'id': 'id' is of the type int64, and no STRUCT<a: INT>",
        ),
        (", n INT PATH '$.item.nme'", FILE, "column 'n': 'item' has no field 'nme'; did you mean"),
        (", n STRING PATH '$.item.name', o STRING METADATA FROM 'value'", FILE, None),
    ],
)
def test_records_of_protobuf(
    columns: str, options: str, message: str | None, tmp_path: Path
) -> None:
    (tmp_path / "o.desc").write_bytes(descriptors(orders()))
    (tmp_path / "bad.desc").write_bytes(b"no descriptors")
    text = (
        f"CREATE STREAM s (`at` TIMESTAMP{columns}) TIMESTAMP BY `at` WITH (source = 'text', "
        f"path = 'x', format = 'protobuf'{options})"
    )
    if message is None:
        list(Script().run(text, tmp_path))
        return
    with pytest.raises(EddylineError, match=message):
        list(Script().run(text, tmp_path))


@pytest.mark.parametrize(
    ("select", "options", "message"),
    [
        ("v", {"format": "avro", "KEY": "v"}, None),
        ("v", {"format": "avr"}, "values of messages have no format 'avr'; did you mean 'avro'"),
        ("v", {"format": "avro", "timestampFormat": "HH"}, "'timestampFormat' is for values of J"),
        ("v AS `a b`", {"format": "avro"}, "no field of Avro can have the name 'a b': use AS"),
    ],
)
def test_messages_of_avro(select: str, options: dict[str, str], message: str | None) -> None:
    script = Script()
    list(script.run(STREAM))
    given = {"sink": "kafka", "kafka.bootstrap.servers": "b:1", "topic": "t", **options}
    if message is None:
        script.query("q", f"SELECT {select} FROM s [NOW]", given)
        return
    with pytest.raises(OptionError, match=message):
        script.query("q", f"SELECT {select} FROM s [NOW]", given)


@pytest.mark.parametrize("document", sorted((ROOT / "docs").rglob("*.md")), ids=lambda d: d.name)
def test_examples_of_the_documents_pass(document: Path) -> None:
    for text in re.findall(r"```sql\n(.*?)```", document.read_text(), re.DOTALL):
        for statement in parse(text):
            if not isinstance(statement, AlterQuery):  # for running jobs only
                check_options(statement, text)


def test_the_guarantee_of_each_sink_is_documented() -> None:
    text = (ROOT / "docs/sources-and-sinks.md").read_text(encoding="utf-8")
    table = text.partition("| `sink` | options | guarantee |")[2].partition("\n\n")[0]
    rows = [line.split("|") for line in table.splitlines()[2:]]
    for name, sink in SINKS.items():
        (guarantee,) = [row[3] for row in rows if f"`{name}`" in row[1]]
        assert guarantee.strip().lower().startswith(sink.guarantee), name
