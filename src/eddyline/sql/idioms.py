"""What other systems write in another way: idioms, and how they are said here.

If a statement is refused and one of these is in it, the error is about the idiom. They are found in
the words of the statement, in upper case with a blank between them; texts have their quotes, and _
in the place of other characters than letters, digits and -.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.dialect import Eddyline
from eddyline.sql.source import SourceText

_DIALECT: Final = Eddyline()


@dataclass(frozen=True)
class Idiom:
    """An idiom: its words, a regular expression; its name in messages; what to write instead.

    ``only_if``: words of the error without which it is not meant.
    """

    words: re.Pattern[str]
    name: str
    instead: str
    only_if: str = ""


def _idiom(words: str, name: str, instead: str, only_if: str = "") -> Idiom:
    return Idiom(re.compile(rf"(?<!\S)(?:{words})(?!\S)"), name, instead, only_if)


_BETWEEN: Final = (
    "give the times in ON, as in a.ts BETWEEN b.ts - INTERVAL '5' MINUTE AND b.ts + INTERVAL '5' "
    "MINUTE, or windows, as in a [RANGE 5 MINUTES] JOIN b [RANGE 5 MINUTES] ON ..."
)
_LATENESS: Final = "how late rows may be is of the stream: CREATE STREAM ... LATENESS 10 SECONDS"
_BATCH: Final = "write FROM s [TUMBLE 10 SECONDS], with GROUP BY window_start, window_end"
_CHANGES: Final = (
    "write CREATE QUERY name AS SELECT ... EMIT CHANGES; Engine.process returns its changes, and a "
    "job writes them to the sink of the query"
)
_FIRST: Final = (
    "write QUALIFY ROW_NUMBER() OVER (PARTITION BY k, window_start ORDER BY ts) = 1 over FROM "
    "s [TUMBLE 1 MINUTE]"
)
_ALL: Final = "write FROM s [TUMBLE 1 MINUTE] and EMIT FINAL at the end"
_ANSWER: Final = "write EMIT SNAPSHOT EVERY 5 SECONDS at the end, or EMIT CHANGES for each change"
_SELECT_SINK: Final = "write CREATE VIEW name AS SELECT ..., or CREATE QUERY with a sink"
_CONNECTOR: Final = (
    "names of options have no quotes: WITH (source = 'kafka', subscribe = 'topic', format = "
    "'json') of a stream, WITH (sink = ...) of a query"
)
_JOB: Final = "all queries of a script are one job: write CREATE QUERY for each INSERT"
_TIME: Final = "there is event time only: the column behind TIMESTAMP BY"
_NOT_THERE: Final = "write CREATE {0} name; if there may be one already, DROP {0} name first"
_FOUND: Final = (
    "write FROM s MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts ... PATTERN (A B) WITHIN INTERVAL "
    "'10' SECOND ...), or for what is missing WHERE NOT EXISTS (SELECT ...)"
)
_TABLE_CHANGES: Final = (
    "changes of a table are supplied with _op '+' or '-': CREATE TABLE ... WITH (updates = "
    "'retroactive')"
)
_UPSERT: Final = "a sink updates a table: WITH (sink = 'postgres', mode = 'upsert', key = 'k', ...)"
_CLOCK: Final = "write ts > now() - INTERVAL '5' MINUTE in WHERE"

#: By system: ksqlDB, Flink, Materialize, Esper, PostgreSQL. The first that is found counts.
IDIOMS: Final = (
    _idiom(
        r"WINDOW SESSION \(",
        "WINDOW SESSION (...)",
        "write FROM s [SESSION 30 SECONDS BY k], with GROUP BY k, window_start, window_end",
    ),
    _idiom(r"CREATE STREAM \w+ AS", "CREATE STREAM AS SELECT", _SELECT_SINK),
    *(
        _idiom(
            rf"CREATE {kind} IF NOT EXISTS",
            f"CREATE {kind} IF NOT EXISTS",
            _NOT_THERE.format(kind),
        )
        for kind in ("STREAM", "TABLE", "VIEW", "QUERY")
    ),
    _idiom(
        r"\w+ (?!PRIMARY)\w+ KEY [,)]",
        "KEY of a column",
        "a column has a name and a type; the key of a message is key STRING METADATA FROM 'key'",
    ),
    _idiom(r"WITHIN \d\S* \w+ ON|WITHIN \( .*? \)(?: GRACE .*?)? ON", "WITHIN of a join", _BETWEEN),
    _idiom("GRACE PERIOD", "GRACE PERIOD", _LATENESS),
    _idiom(
        r"EMIT (?:CHANGES|FINAL) LIMIT \d+",
        "LIMIT behind EMIT",
        "a standing query has no last row; for the first ones by an order write ORDER BY x DESC "
        "LIMIT 10 in front of EMIT",
    ),
    _idiom(
        r"FROM \w+ PARTITION BY \w+(?: EMIT .*)?",
        "PARTITION BY behind a stream",
        "rows go where the queries need them; for the last rows of each key write FROM s "
        "[PARTITION BY k ROWS 1]",
    ),
    _idiom("WINDOWSTART|WINDOWEND", "WINDOWSTART", "write window_start, window_end", "no column"),
    _idiom("ROWTIME|PROC_?TIME", "ROWTIME", _TIME, "no column"),
    _idiom(
        "INSERT INTO .* VALUES .*",
        "INSERT INTO ... VALUES",
        "rows come from the source of a stream or table, or from Engine.process",
    ),
    # Flink
    _idiom(r"AS PROCTIME \( \)", "a column AS PROCTIME()", _TIME),
    *(
        _idiom(
            f"CREATE TEMPORARY {kind}",
            f"CREATE TEMPORARY {kind}",
            f"write CREATE {kind}: it is there as long as the engine",
        )
        for kind in ("VIEW", "TABLE", "FUNCTION")
    ),
    _idiom(r"WITH \( '\S+' = .*", "WITH ('connector' = ...)", _CONNECTOR, "of an option"),
    _idiom(
        r"CREATE FUNCTION \w+ AS '.*",
        "CREATE FUNCTION name AS 'class'",
        "write CREATE FUNCTION name(x DOUBLE) RETURNS DOUBLE LANGUAGE PYTHON AS 'module.name'",
    ),
    _idiom(
        r"ADD JAR .*",
        "ADD JAR",
        "functions are in Python: CREATE FUNCTION name(x DOUBLE) RETURNS DOUBLE LANGUAGE PYTHON AS "
        "'module.name'",
    ),
    _idiom(
        r"JSON_OBJECTAGG \(.*",
        "JSON_OBJECTAGG",
        "write to_json(map_from_entries(array_agg(struct(k, v))))",
    ),
    _idiom("EXECUTE 'STATEMENT_SET.*|BEGIN STATEMENT SET", "STATEMENT SET", _JOB),
    _idiom(
        "SET '.*",
        "SET 'option'",
        "write SET option = value; how long state is kept follows from the windows",
    ),
    _idiom(r"SAMPLE BY \d+\w*", "SAMPLE BY", f"{_BATCH}"),
    _idiom("/ /", "//", "write a DIV b for the whole part of a quotient", "missing behind '/'"),
    # Materialize
    _idiom("SUBSCRIBE|TAIL", "SUBSCRIBE or TAIL", _CHANGES, "unknown statement"),
    _idiom(
        "CREATE CONNECTION",
        "CREATE CONNECTION",
        "where a source is, is said by its options: CREATE STREAM ... WITH (source = 'kafka', "
        "kafka.bootstrap.servers = '...')",
    ),
    _idiom("CREATE DEFAULT INDEX", "CREATE INDEX", "the engine keeps those that its queries need"),
    _idiom("CREATE CLUSTER", "CREATE CLUSTER", "all queries are one job, on the cores of Spark"),
    _idiom(
        "CREATE SECRET",
        "CREATE SECRET",
        "options take the name of an environment variable: password_env, url_env",
    ),
    _idiom("SHOW '?CREATE.*", "SHOW CREATE", "write DESCRIBE name, or EXPLAIN name of a query"),
    _idiom(
        r"(?<!SYSTEM_TIME )(?<!VERSION )(?<!TIMESTAMP )AS OF (?:AT LEAST )?(?:\d|').*",
        "AS OF an instant",
        "read Query.snapshot() then, or write EMIT SNAPSHOT EVERY 1 MINUTE",
    ),
    _idiom(r"OPTIONS \(.*", "OPTIONS (...)", "leave it out: plans are chosen by what is measured"),
    _idiom(
        "WITH MUTUALLY RECURSIVE",
        "WITH MUTUALLY RECURSIVE",
        "write plain WITH, and join the stream once for each step",
    ),
    _idiom(
        r"EXPLAIN (?:\w+ )?PLAN(?: FOR)?", "EXPLAIN PLAN", "write EXPLAIN SELECT ..., or EXPLAIN q"
    ),
    _idiom(r"MZ_LOGICAL_TIMESTAMP \(.*", "mz_logical_timestamp()", _CLOCK),
    # Esper
    _idiom(
        "CREATE WINDOW",
        "CREATE WINDOW",
        "write CREATE VIEW name AS SELECT * FROM s [RANGE 1 MINUTE]",
    ),
    _idiom(r"# GROUPWIN \(.*", "#groupwin(...)", "write FROM s [PARTITION BY k ROWS 3]"),
    _idiom(
        "(?<=SELECT )ISTREAM .*",
        "SELECT istream",
        "write EMIT INSERTS, the default, behind the SELECT",
    ),
    _idiom(
        "(?<=SELECT )I?RSTREAM .*",
        "SELECT rstream",
        "write EMIT CHANGES behind the SELECT: rows that leave have _op '-'",
    ),
    _idiom(
        r"(?:PREV|PRIOR) \( \d+ , .*",
        "prev(...) or prior(...)",
        "write LAG(x) OVER (PARTITION BY k ORDER BY ts)",
    ),
    _idiom(r"# TIME \(.*|\. WIN : TIME \(.*", "#time(...)", "write FROM s [RANGE 10 SECONDS]"),
    _idiom(r"# LENGTH \(.*|\. WIN : LENGTH \(.*", "#length(...)", "write FROM s [ROWS 5]"),
    _idiom(r"# TIME_BATCH \(.*|\. WIN : TIME_BATCH \(.*", "#time_batch(...)", _BATCH),
    _idiom("# LASTEVENT|. STD : LASTEVENT", "#lastevent", "write FROM s [ROWS 1]"),
    _idiom(r"# UNIQUE \(.*", "#unique(...)", "write FROM s [PARTITION BY k ROWS 1]"),
    _idiom("# KEEPALL", "#keepall", "write FROM s [UNBOUNDED]"),
    _idiom(r"FROM PATTERN \[.*", "pattern [...]", _FOUND),
    _idiom("OUTPUT FIRST EVERY .*", "OUTPUT FIRST EVERY", _FIRST),
    _idiom("OUTPUT ALL EVERY .*", "OUTPUT ALL EVERY", _ALL),
    _idiom(r"OUTPUT (?:\w+ )?EVERY .*", "OUTPUT EVERY", _ANSWER),
    _idiom(
        r"CREATE SCHEMA \w+ \(.*",
        "CREATE SCHEMA name (...)",
        "write CREATE STREAM name (columns) TIMESTAMP BY ts",
    ),
    _idiom(
        "CREATE CONTEXT", "CREATE CONTEXT", "write GROUP BY k, or FROM s [PARTITION BY k ROWS 10]"
    ),
    _idiom(
        r"ON \w+ (?:DELETE|UPDATE|MERGE|SELECT)",
        "ON an event",
        _TABLE_CHANGES,
        "unknown statement",
    ),
    # PostgreSQL
    _idiom(
        r"REFRESH MATERIALIZED VIEW",
        "REFRESH MATERIALIZED VIEW",
        "the answer of a query is always up to date: read Query.snapshot()",
    ),
    _idiom(
        r"GENERATE_SERIES \(.*",
        "generate_series(...)",
        "write FROM s, UNNEST(sequence(1, 3)) AS t (n)",
    ),
    _idiom("@ @.*", "@@", "write text RLIKE 'pattern', or contains(text, 'word')"),
    _idiom("< @.*", "<@", "write x >= 1 AND x < 5, or array_contains(list, x)"),
    _idiom("@ >.*", "@>", "write array_contains(list, x), or text ->> '$.a' = 'x' for JSON"),
    _idiom("#>>? .*", "#>>", "write text ->> '$.a.b'"),
    _idiom(
        r"TO_CHAR \( .*'[^']*(?:YYYY|HH24|MI)[^']*'.*",
        "to_char with YYYY, HH24 or MI",
        "patterns are those of Spark: 'yyyy-MM-dd HH:mm:ss'",
        "date pattern",
    ),
    _idiom(r"ON CONFLICT.*", "ON CONFLICT", _UPSERT),
    _idiom("LISTEN|NOTIFY", "LISTEN or NOTIFY", _CHANGES, "unknown statement"),
    _idiom(
        "CREATE TRIGGER",
        "CREATE TRIGGER",
        "write CREATE QUERY name AS SELECT ... WITH (sink = 'webhook', url = '...')",
    ),
)


def with_advice(error: SqlError, sql: str) -> SqlError:
    """The error of an idiom in the refused statement; the same error if there is none.

    Args:
        error: with its position in the text.
        sql: the whole text.
    """
    source = SourceText(sql)
    if error.line is None or error.column is None:
        return error
    try:
        tokens = _of_statement(_DIALECT.tokenize(sql), source, error.line, error.column)
    except TokenError:
        return error
    words = [_word(token) for token in tokens]
    text = " ".join(words)
    for idiom in IDIOMS:
        found = idiom.words.search(text) if idiom.only_if in error.message else None
        if found is not None:
            at = tokens[text[: found.start()].count(" ") - _blanks(words, found.start())]
            message = f"{idiom.name} is not supported: {idiom.instead}"
            return source.error(at, message, UnsupportedError)
    return error


def _word(token: Token) -> str:
    if token.token_type == TokenType.STRING:
        return "'" + re.sub(r"[^\w-]", "_", token.text) + "'"
    return token.text.upper()


def _blanks(words: list[str], end: int) -> int:
    """The number of blanks inside the words before an offset of all of them."""
    blanks = start = 0
    for word in words:
        if start >= end:
            break
        blanks += word.count(" ")
        start += len(word) + 1
    return blanks


def _of_statement(tokens: list[Token], source: SourceText, line: int, column: int) -> list[Token]:
    """The tokens of the statement in which an error is."""
    found: list[Token] = []
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            if source.position(token.start) > (line, column):
                break
            found = []
        else:
            found.append(token)
    return found
