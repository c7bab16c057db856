"""Options of the sink ``postgres``, checked without a server and without its driver."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from eddyline.engine.query import Query
from eddyline.errors import DataError
from eddyline.spark.sinks.table_modes import GivenOptions, Mode, TableMode, check_mode, wrong_option

NAME: Final = "postgres"

#: Options of the connection, beside ``url``, by the names of libpq.
_PARAMETERS: Final[Mapping[str, str]] = {
    "host": "host",
    "port": "port",
    "database": "dbname",
    "user": "user",
}
#: A name, or a name in double quotes.
_PART: Final = r'(?:"(?:[^"]|"")+"|[^".\s]+)'
_TABLE: Final = re.compile(rf"(?:(?P<schema>{_PART})\.)?(?P<table>{_PART})")
#: PostgreSQL cuts off longer names.
_MAX_NAME_BYTES: Final = 63
#: A host of a URL, which may be missing, and its port.
_PORT_OF_HOST: Final = re.compile(r"(?:\[[^\]]*\]|[^:\s]*)(?::\d*)?")
#: Stands for a secret.
HIDDEN: Final = "***"
#: A password of a URL, between user and host, and as a parameter.
_USER_INFO: Final = re.compile(r"^([\w+.-]+://[^:/?#@]*):[^/?#]*@")
_PASSWORD_PARAMETER: Final = re.compile(
    r"([?&;](?:password|access_token|token|secret|sig)=)[^&#;]*", re.IGNORECASE
)


@dataclass(frozen=True)
class PostgresOptions:
    """The options of one sink.

    Attributes:
        connection: parameters of libpq. url: a URL of libpq with the others; "" if there is none.
        schema: of the table; None: the first of the search path.
        password_env: environment variable with the password; None: libpq finds it.
    """

    connection: Mapping[str, str]
    url: str
    schema: str | None
    table: str
    contents: TableMode
    password_env: str | None

    @classmethod
    def of(cls, label: str, options: Mapping[str, str]) -> PostgresOptions:
        """The valid options of a sink.

        Args:
            label: of the query or side output, for messages.

        Raises:
            OptionError: a value is wrong.
        """
        given = GivenOptions(label, options)
        table = _TABLE.fullmatch(given["table"])
        if table is None:
            raise given.wrong("table", f"table = '{given['table']}' is not a name, or schema.name")
        url = given.get("url", "")
        connection = {own: given[name] for name, own in _PARAMETERS.items() if name in given}
        if "url" in given and not _is_url(url):
            raise given.wrong("url", "url is not of the form postgresql://user@host:port/database")
        if url and connection:
            raise given.wrong("url", f"set url, or {', '.join(_PARAMETERS)}, not both")
        port = connection.get("port", "5432")
        if not (port.isascii() and port.isdigit()):
            raise given.wrong("port", f"port = '{port}' is not a number")
        contents = TableMode.of(label, options)
        variable = given.get("password_env")
        if variable is not None and without_password(url) != url:
            raise given.wrong(
                "password_env", "the url has a password, and password_env names another"
            )
        schema = table["schema"] and _unquoted(table["schema"])
        name = _unquoted(table["table"])
        return cls(connection, url, schema, name, contents, variable)

    @property
    def mode(self) -> Mode:
        """What the table has."""
        return self.contents.mode

    @property
    def database(self) -> tuple[object, ...]:
        """Equal for sinks that can use one connection."""
        return (self.url, tuple(sorted(self.connection.items())), self.password_env)

    def password(self) -> str | None:
        """The password of ``password_env``; None if that is not set.

        Raises:
            DataError: there is no such environment variable.
        """
        if self.password_env is None:
            return None
        if (password := os.environ.get(self.password_env)) is None:
            raise DataError(f"password_env: there is no environment variable '{self.password_env}'")
        return password


def check_values(label: str, options: Mapping[str, str]) -> None:
    """Check the values of options; see :meth:`PostgresOptions.of`."""
    PostgresOptions.of(label, options)


def check_query(query: Query) -> None:
    """Check that a table can have what the mode of a query's sink promises.

    Raises:
        OptionError: it cannot; or a name is no name of a column in PostgreSQL.
    """
    check_mode(query, TableMode.of(query.name, query.options))
    names = [field.name for field in query.change_schema]
    for i, name in enumerate(names):
        if not name or len(name.encode()) > _MAX_NAME_BYTES:
            raise wrong_option(query, "sink", f"no column of PostgreSQL can have the name '{name}'")
        if name in names[:i]:
            raise wrong_option(query, "sink", f"two columns have the name '{name}': use AS")


def without_password(url: str) -> str:
    """A URL with its password, if it has one, replaced by stars.

    >>> without_password("postgresql://me:secret@host:5432/db?password=x&sslmode=require")
    'postgresql://me:***@host:5432/db?password=***&sslmode=require'
    """
    return _PASSWORD_PARAMETER.sub(rf"\1{HIDDEN}", _USER_INFO.sub(rf"\1:{HIDDEN}@", url))


def _is_url(url: str) -> bool:
    """Whether libpq can read a URL; it may name several hosts."""
    if not url.startswith(("postgresql://", "postgres://")):
        return False
    hosts = url.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2]
    ports = (_PORT_OF_HOST.fullmatch(host) for host in hosts.split(","))
    return all(port is not None for port in ports)


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
