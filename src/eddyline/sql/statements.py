"""Parsed statements of a script, not yet checked against a catalog."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, Protocol

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra.catalog import Emit, StreamDef, TableDef
from eddyline.algebra.functions.user_defined import FunctionKind
from eddyline.sql.source import SourceText
from eddyline.types import Schema

_CREATE: Final = re.compile(r"^CREATE\b", re.IGNORECASE)
_CREATE_PARTIAL: Final = re.compile(r"^CREATE PARTIAL\b")

ObjectKind = Literal["stream", "table", "view", "query", "function"]


@dataclass(frozen=True)
class ForEach:
    """``FOR EACH ROW OF table [AS name]``: the query runs once for each row of a table.

    Attributes:
        table: as written.
        name: of the row in the SELECT: its alias, else the table's name.
        at: offset of the table's name in the script.
    """

    table: str
    name: str
    at: int


class SyntaxTree(Protocol):
    """A syntax tree that is made when it is needed."""

    @property
    def ast(self) -> exp.Query:
        """The tree."""


@dataclass(frozen=True)
class Select:
    """A SELECT or a set operation: its syntax tree, and the script that contains it.

    With ``for_each``, columns of that row are parameters in it. ``span``: where it starts and ends
    in the script.
    """

    syntax: exp.Query | SyntaxTree
    source: SourceText
    for_each: ForEach | None = None
    span: tuple[int, int] = field(default=(0, 0), compare=False)

    @property
    def ast(self) -> exp.Query:
        """The syntax tree."""
        return self.syntax if isinstance(self.syntax, exp.Query) else self.syntax.ast

    @property
    def text(self) -> str:
        """The SELECT alone."""
        start, end = self.span
        return self.source.text[start:end]


class OptionOffsets(NamedTuple):
    """The offsets in the script of an option's name and of its value."""

    name: int
    value: int


def of_column(name: str) -> str:
    """The key of a column's PATH or METADATA among the offsets of a statement."""
    return f"column {name}"


@dataclass(frozen=True)
class Statement:
    """One statement of a script.

    Attributes:
        sql: the statement's own text, without the semicolon; parsing it gives the same statement.
        line, column: where it starts in the script, both from 1.
    """

    sql: str
    line: int
    column: int


@dataclass(frozen=True)
class SetOption(Statement):
    """``SET name = value``. ``value``: as text; None: NULL."""

    name: str
    value: str | None
    source: SourceText
    offsets: OptionOffsets


@dataclass(frozen=True)
class CreateStream(Statement):
    """``CREATE STREAM name (columns) TIMESTAMP BY column [LATENESS d] [IDLE AFTER d] [AHEAD AT MOST
    d] [WITH (...)]``. ``offsets``: of its source's options, and of PATH and METADATA of columns.
    """

    definition: StreamDef
    offsets: Mapping[str, OptionOffsets] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class CreateTable(Statement):
    """``CREATE TABLE name (columns) [WITH (...)]``. ``offsets``: as of a stream."""

    definition: TableDef
    offsets: Mapping[str, OptionOffsets] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class CreateView(Statement):
    """``CREATE VIEW name AS SELECT``: a named SELECT that others can read."""

    name: str
    select: Select


@dataclass(frozen=True)
class CreateQuery(Statement):
    """``CREATE QUERY name [FOR EACH ROW OF table [AS row]] AS SELECT ... [EMIT ...] [ON OVERLOAD
    SHED [BY ...]] [WITH (...)]``: a standing query, or one for each row of a table.

    ``options`` are the sink's, as written; ``offsets``: their offsets. ``sheds``: under overload,
    rows of its streams may be dropped; ``by``: first those of the lowest values, each expression of
    one stream. ``in_parts``: it computes partial groups of its rows, which are merged elsewhere
    (:func:`in_parts_statement`).
    """

    name: str
    select: Select
    emit: Emit
    options: Mapping[str, str]
    sheds: bool = False
    offsets: Mapping[str, OptionOffsets] = field(default_factory=dict, compare=False)
    in_parts: bool = False
    by: tuple[exp.Expr, ...] = ()


@dataclass(frozen=True)
class PythonCode:
    """The code of a function: the path of what a module has, or a text that defines it.

    ``kind``: of its arguments, as of ``Engine.function``. ``at``: offset in the script.
    """

    text: str
    is_body: bool
    kind: FunctionKind
    at: int


@dataclass(frozen=True)
class CreateFunction(Statement):
    """``CREATE FUNCTION name(arguments) RETURNS type AS expression``, or ``LANGUAGE PYTHON AS``
    code. ``at``: offset of the name.
    """

    name: str
    parameters: Schema
    result: pa.DataType
    source: SourceText
    at: int
    body: exp.Expr | None = None
    code: PythonCode | None = None


@dataclass(frozen=True)
class Drop(Statement):
    """``DROP STREAM|TABLE|VIEW|QUERY|FUNCTION name``."""

    kind: ObjectKind
    name: str


@dataclass(frozen=True)
class AlterQuery(Statement):
    """``ALTER QUERY name WITH (...)``: other options of its sink, in place of all former ones.

    ``options`` and ``offsets``: as of :class:`CreateQuery`.
    """

    name: str
    options: Mapping[str, str]
    offsets: Mapping[str, OptionOffsets] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class ResetWatermark(Statement):
    """``ALTER STREAM name RESET WATERMARK``: the watermark restarts at the next rows."""

    name: str


@dataclass(frozen=True)
class SelectStatement(Statement):
    """A SELECT as a statement: a standing query without a name."""

    select: Select
    emit: Emit
    sheds: bool = False
    by: tuple[exp.Expr, ...] = ()


@dataclass(frozen=True)
class Explain(Statement):
    """``EXPLAIN [ANALYZE] SELECT ... | query``: ``target`` is a SELECT or a query's name."""

    target: Select | str
    emit: Emit
    analyze: bool
    sheds: bool = False
    by: tuple[exp.Expr, ...] = ()


@dataclass(frozen=True)
class Show(Statement):
    """``SHOW STREAMS | TABLES | VIEWS | QUERIES | FUNCTIONS``, or ``DESCRIBE name``."""

    what: Literal["streams", "tables", "views", "queries", "functions", "columns"]
    name: str = ""


def in_parts_statement(create: str) -> str:
    """The CREATE QUERY statement as one that computes partial groups: CREATE PARTIAL QUERY.

    It is not for users: engines that share the work of a query get it.

    >>> in_parts_statement("CREATE QUERY q AS SELECT COUNT(*) FROM s [NOW]")
    'CREATE PARTIAL QUERY q AS SELECT COUNT(*) FROM s [NOW]'
    """
    made, n = _CREATE.subn("CREATE PARTIAL", create, count=1)
    assert n == 1, "it creates a query"
    return made


def whole_statement(create: str) -> str:
    """The statement of which :func:`in_parts_statement` made this one; others stay as they are."""
    return _CREATE_PARTIAL.sub("CREATE", create, count=1)
