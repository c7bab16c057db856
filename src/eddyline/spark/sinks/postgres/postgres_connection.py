"""A connection to PostgreSQL that all sinks of a job with the same database use."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

import psycopg
from psycopg import Connection, Cursor
from psycopg.conninfo import conninfo_to_dict

from eddyline.errors import DataError
from eddyline.spark.sinks.postgres.postgres_options import PostgresOptions

#: The oldest version with unique constraints that treat NULLs as equal.
_OLDEST: Final = 150_000
_CONNECT_S: Final = "10"

T = TypeVar("T")


class Database:
    """A database; connected while it is used.

    Args:
        options: of a sink that uses it.
    """

    def __init__(self, options: PostgresOptions) -> None:
        self._options = options
        self._connection: Connection | None = None
        self._failure: psycopg.OperationalError | None = None  # of the last connection
        self._next = 0.0
        self._lock = threading.Lock()

    def run(self, work: Callable[[Cursor], T]) -> T:
        """Do work in a transaction; once more in a new connection if an old one is lost.

        The work must have no effect if an earlier attempt was committed.

        Raises:
            DataError: there is no password, or the server is too old.
            psycopg.Error: of the connection and of the work.
        """
        with self._lock:
            if self._connection is not None:
                try:
                    return self._transaction(work)
                except psycopg.OperationalError:
                    self._disconnect()
            try:
                return self._transaction(work)
            except psycopg.OperationalError:
                self._disconnect()
                raise

    def close(self) -> None:
        """Close the connection, until it is used again."""
        with self._lock:
            self._disconnect()

    def _transaction(self, work: Callable[[Cursor], T]) -> T:
        if self._connection is None:
            self._connection = self._connected()
        with self._connection.transaction(), self._connection.cursor() as cursor:
            return work(cursor)

    def _connected(self) -> Connection:
        """A new connection; after one that failed none is tried for as long as that took, because
        thousands of tables may be in the database.

        Raises:
            psycopg.OperationalError: the server cannot be reached.
        """
        began = time.monotonic()
        if self._failure is not None and began < self._next:
            raise self._failure
        self._failure = None
        try:
            return self._connect()
        except psycopg.OperationalError as e:
            now = time.monotonic()
            self._failure, self._next = e, now + (now - began)
            raise

    def _connect(self) -> Connection:
        given: dict[str, Any] = {**conninfo_to_dict(self._options.url), **self._options.connection}
        given.setdefault("connect_timeout", _CONNECT_S)
        given.setdefault("application_name", "eddyline")
        given["client_encoding"] = "utf8"
        if (password := self._options.password()) is not None:
            given["password"] = password
        connection = psycopg.connect(**given, autocommit=True)
        if connection.info.server_version < _OLDEST:
            connection.close()
            raise DataError("PostgreSQL 15 or newer is needed")
        return connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
