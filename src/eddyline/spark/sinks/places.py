"""Sinks that write to the same place: which may share it, found without Spark."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, NamedTuple

import pyarrow as pa

from eddyline.engine.query import Query
from eddyline.spark.formats.format_options import (
    OF_SINKS,
    ON_FAILURE,
    WAITING_BYTES,
    WRITERS,
    OptionError,
    sink_format,
)
from eddyline.spark.sinks.failure_policy import FailurePolicy
from eddyline.spark.sinks.iceberg.iceberg_options import IcebergOptions
from eddyline.spark.sinks.output_routes import route_of
from eddyline.spark.sinks.postgres.postgres_options import PostgresOptions
from eddyline.spark.sinks.sequence import has_seq

#: Sinks that have no place, or of which each has its own.
_ANYWHERE: Final = ("print", "memory")
#: Sinks whose place is the option ``table``.
_TABLES: Final = ("postgres", "iceberg")


class _User(NamedTuple):
    """A query or side output with its sink.

    Attributes:
        route: equal for queries with one sink; None: of a side output.
        files: format and options of a sink of files; None: it has none.
    """

    label: str
    route: str | None
    files: tuple[str, dict[str, str]] | None
    columns: pa.Schema | None
    policy: FailurePolicy
    replace_key: tuple[str, ...] | None


class SinkPlaces:
    """The places of the sinks of a job, noted one by one."""

    def __init__(self) -> None:
        self._by_place: dict[tuple[object, ...], _User] = {}
        self._by_route: dict[str, _User] = {}

    def add(self, label: str, options: Mapping[str, str], query: Query | None = None) -> None:
        """Note a sink with valid options.

        Args:
            label: of the query or side output. query: None of a side output.

        Raises:
            OptionError: another one has the place, and they cannot share it.
        """
        format_ = sink_format(options)
        if format_ in _ANYWHERE:
            return
        user = _user(label, options, query)
        if user.route is not None:
            first = self._by_route.setdefault(user.route, user)
            _check_same_sink(first, user, options)
        place = _place(label, options)
        if place is None:
            return
        first = self._by_place.setdefault(place, user)
        if first.label != label:
            _check_shared(first, user, "table" if format_ in _TABLES else "path")


def _user(label: str, options: Mapping[str, str], query: Query | None) -> _User:
    format_ = sink_format(options)
    files = None
    if _is_files(format_):
        own = {k: v for k, v in options.items() if k not in OF_SINKS and k.lower() != "path"}
        files = format_, own
    route, columns, replaces = None, None, None
    if query is not None:
        route, columns, replaces = route_of(query).key, query.change_schema, query.replace_key
        if has_seq(options):
            columns = columns.append(pa.field("", pa.int64()))
    return _User(label, route, files, columns, FailurePolicy.of(label, options), replaces)


def _place(label: str, options: Mapping[str, str]) -> tuple[object, ...] | None:
    """What identifies the place; None where messages and rows of several may come together."""
    format_ = sink_format(options)
    given = {name.lower(): value for name, value in options.items()}
    if _is_files(format_) or format_ == "delta":
        path = given["path"]
        return "path", path if "://" in path else os.path.normpath(path)
    if format_ == "postgres":
        own = PostgresOptions.of(label, options)
        return "table", own.database, own.schema, own.table
    if format_ == "iceberg":
        return "iceberg", *IcebergOptions.of(label, options).place
    return None


def _is_files(format_: str) -> bool:
    return format_ in WRITERS and WRITERS[format_].files


def _check_same_sink(first: _User, user: _User, options: Mapping[str, str]) -> None:
    if first.policy != user.policy:
        of_policy = (ON_FAILURE, WAITING_BYTES)
        option = next((name for name in options if name in of_policy), "sink")
        raise OptionError(
            f"'{user.label}': '{first.label}' has the same sink, and another on_failure or "
            "max_waiting_bytes",
            option,
            "value",
        )


def _check_shared(first: _User, user: _User, option: str) -> None:
    """Check that a place is shared by queries that may do so.

    Raises:
        OptionError: they may not.
    """
    conflict = f"'{user.label}': the {option} belongs to '{first.label}'"
    choose = f"choose another {option}"
    if first.route is None or user.route is None:
        raise OptionError(f"{conflict}; {choose}", option, "value")
    if first.files != user.files:
        message = f"{conflict}, whose sink has another format or other options; {choose}"
        raise OptionError(message, option, "value")
    if first.columns != user.columns:
        raise OptionError(f"{conflict}, which has other columns; {choose}", option, "value")
    if first.files is None and first.route != user.route:
        message = f"{conflict}, whose sink has other options; {choose}"
        raise OptionError(message, option, "value")
    if first.files is None and first.replace_key != user.replace_key:
        message = f"{conflict}, which has another EMIT or GROUP BY; {choose}"
        raise OptionError(message, option, "value")
