"""Options that are secret: the checkpoint, the shards and lists of queries get stars instead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.engine.definitions import Definition
from eddyline.errors import DataError
from eddyline.spark.formats.format_options import sink_format
from eddyline.spark.sinks.postgres.postgres_options import HIDDEN, without_password
from eddyline.sql.naming import quoted_text

#: Options whose whole value is secret: those of clients of Kafka, JDBC, catalogs and object stores.
_SECRET: Final = re.compile(
    r"(?:^|[._-])(?:password|passwd|secret|token|credentials?|authorization)$|jaas\.config$"
    r"|secret[._-]?(?:access[._-]?)?key$|account[.-]key|sas[._-]token|connection[._-]string$"
    r"|\.key\.password$|ssl\.keystore\.key$|oauth.*secret",
    re.IGNORECASE,
)
#: Of which a part may be.
_URL: Final = re.compile(r"(?:^|_)ur[il]$", re.IGNORECASE)


def public_options(options: Mapping[str, str]) -> dict[str, str]:
    """The options of a source or sink without secrets.

    >>> public_options({"password": "x", "url": "https://me:x@host/", "password_env": "PW"})
    {'password': '***', 'url': 'https://me:***@host/', 'password_env': 'PW'}
    """
    return {name: _public(name, value) for name, value in options.items()}


def secret_of_catalog(options: Mapping[str, str]) -> str | None:
    """An option of the sink ``iceberg`` that has a secret; None: there is none."""
    if sink_format(options) != "iceberg":
        return None
    return next((name for name, value in options.items() if _public(name, value) != value), None)


def public_sql(sql: str, options: Mapping[str, str]) -> str:
    """A statement without the secrets in the options of its source or sink.

    Raises:
        DataError: one is written in a form in which it cannot be found.
    """
    for option, value in options.items():
        if (public := _public(option, value)) == value:
            continue
        words = r"\s*\.\s*".join(f'[`"]?{re.escape(word)}[`"]?' for word in option.split("."))
        given = re.compile(
            rf"((?<![\w.`\"]){words}[`\"]?\s*=\s*){re.escape(quoted_text(value))}", re.IGNORECASE
        )
        stars = quoted_text(public).replace("\\", r"\\")
        sql, n = given.subn(rf"\g<1>{stars}", sql)
        if not n:
            raise DataError(
                f"the value of the option {option}, which is secret, cannot be found in the "
                "statement: write it as one text in single quotes, without comments before it"
            )
    return sql


def public_source(made: Definition, source: StreamDef | TableDef | None) -> Definition:
    """A stream or table without the secrets of its source.

    Args:
        source: None of another object, which stays as it is.
    """
    if source is None:
        return made
    return replace(made, sql=public_sql(made.sql, source.options))


def _public(option: str, value: str) -> str:
    if _SECRET.search(option):
        return HIDDEN
    return without_password(value) if _URL.search(option) else value
