"""Secrets in options of sources and sinks: neither in the checkpoint nor in lists of queries."""

from __future__ import annotations

import pytest

from eddyline import DataError
from eddyline.spark.script import Script
from eddyline.spark.sinks.output_routes import route_of
from eddyline.spark.sinks.secrets import public_options, public_sql

JAAS = 'org.apache.kafka.PlainLoginModule required username="me" password="s3cret";'
TO_KAFKA = "kafka.bootstrap.servers = 'h:9092'"
STREAM = (
    "CREATE STREAM s (ts TIMESTAMP, k STRING, v DOUBLE) TIMESTAMP BY ts WITH (source = 'kafka', "
    f"{TO_KAFKA}, subscribe = 't', format = 'json', kafka.sasl.jaas.config = '{JAAS}', "
    f"bad_sink = 'kafka', bad_{TO_KAFKA}, bad_topic = 'b', bad_kafka.sasl.jaas.config = '{JAAS}')"
)
SINKS = [
    f"sink = 'kafka', {TO_KAFKA}, topic = 't', KAFKA.SASL.jaas.config = '{JAAS}'",
    f"sink = 'kafka', {TO_KAFKA}, topic = 't', kafka.ssl.keystore.password = 's3cret'",
    "sink = 'jdbc', url = 'jdbc:x://h/db?user=me&Password=s3cret', dbtable = 't'",
    "sink = 'jdbc', url = 'jdbc:x://h', dbtable = 't', `password` = 's3cret'",
    "sink = 'webhook', url = 'https://me:s3cret@h/x?a=1'",
    "sink = 'webhook', url = 'https://h/x?token=s3cret&a=1'",
    "sink = 'postgres', url = 'postgresql://me:s3cret@h/db', table = 't'",
    "sink = 'iceberg', table = 'l.t', catalog_uri = 'postgresql+psycopg://me:s3cret@h/db'",
    "sink = 'iceberg', table = 'l.t', catalog_uri = 'https://h', credential = 'me:s3cret'",
    "sink = 'iceberg', table = 'l.t', catalog_name = 'c', `s3.secret-access-key` = 's3cret'",
    "sink = 'iceberg', table = 'l.t', catalog_name = 'c', s3.`session-token` = 's3cret'",
    "sink = 'iceberg', table = 'l.t', catalog_name = 'c', `header.Authorization` = 'Bearer s3cret'",
    "sink = 'iceberg', table = 'l.t', catalog_name = 'c', adls.`account-key` = 's3cret'",
    "sink = 'iceberg', table = 'l.t', catalog_name = 'c', gcs.oauth2.token = 's3cret'",
]


@pytest.mark.parametrize("sink", SINKS)
def test_what_is_stored_has_no_secrets(sink: str) -> None:
    script = Script()
    list(script.run(f"{STREAM}; CREATE QUERY q AS SELECT k FROM s [NOW] WITH ({sink})"))
    query = script.queries["q"]
    script.query("p", "SELECT k FROM s [NOW]", query.options)
    assert "s3cret" in str(query.options) and "s3cret" in str(script.streams["s"].options)
    texts = [*script.statements, *script.program_of(["q", "p"]), query.sql, script.statement("q")]
    assert not [text for text in texts if "s3cret" in text]
    again = Script.of(script.statements)
    assert again.statements == script.statements
    assert route_of(again.queries["q"]) == route_of(query), "as on the shards"


def test_a_short_secret_is_replaced_in_its_option_only() -> None:
    sql = "CREATE QUERY q AS SELECT k FROM s [NOW] WHERE k = 'a' WITH (x = 'a', password = 'a')"
    assert public_sql(sql, {"x": "a", "password": "a"}) == sql[: -len("'a')")] + "'***')"
    with pytest.raises(DataError, match="option password, which is secret, cannot be found"):
        public_sql(sql, {"password": "b"})


def test_what_is_no_secret_is_kept() -> None:
    options = {
        "password_env": "DB_PASSWORD",
        "key": "k",
        "url": "postgresql://me@host/db?sslmode=require",
        "kafka.key.serializer": "x",
        "path": "/token",
        "catalog_uri": "sqlite:////lake/catalog.db",
        "s3.access-key-id": "me",
    }
    assert public_options(options) == options
