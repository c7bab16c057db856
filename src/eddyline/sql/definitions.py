"""The parts of CREATE statements: names, columns with types, options."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from eddyline.algebra.catalog import ColumnSources, JsonPath
from eddyline.algebra.json_paths import conflict, parse_path
from eddyline.errors import did_you_mean
from eddyline.sql.datatypes import arrow_type, type_names
from eddyline.sql.dialect import EddylineParser
from eddyline.sql.naming import why_no_name
from eddyline.sql.statements import OptionOffsets, of_column
from eddyline.types import SQL_TYPES, TIMESTAMP, Field, Schema

#: Options as written: value, token of the value, token of the name.
PlacedOptions = dict[str, tuple[str, Token, Token]]

#: Prefixes of the options of a stream's side outputs.
SIDE_PREFIXES: Final = ("late_", "bad_")
#: Prefix of the options of a stream's history.
_HISTORY: Final = "history_"
#: Lower-case names of the options that are not specific to one format.
_OWN: Final = frozenset(
    [
        "source",
        "sink",
        "path",
        "seq",
        "shared",
        "on_failure",
        "max_waiting_bytes",
        "rows",
        "rate",
        "distinct",
        "updates",
        "ts_unit",
        "lateness_by",
        "history",
        "history_path",
        "history_until",
        "history_batch_rows",
    ]
)

_CONSTRAINTS: Final = ("NOT", "NULL", "PRIMARY KEY", "UNIQUE", "DEFAULT", "CHECK", "REFERENCES")
_SOURCE_CLAUSES: Final = ("PATH", "METADATA")


@dataclass
class ColumnClauses:
    """What stands behind the types of columns, by the name of the column.

    Attributes:
        computed: the expressions of computed columns; None: columns cannot be computed.
        paths, metadata: see ColumnSources. offsets: of these clauses and their texts.
    """

    computed: dict[str, exp.Expr] | None = None
    paths: dict[str, JsonPath] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    offsets: dict[str, OptionOffsets] = field(default_factory=dict)

    @property
    def sources(self) -> ColumnSources:
        """Where the columns are in a record of the source."""
        return ColumnSources(self.paths, self.metadata)


class DefinitionParser(EddylineParser):
    """Parses the clauses of CREATE statements."""

    def _name(self, what: str) -> str:
        node = self._parse_id_var(any_token=False)
        if not isinstance(node, exp.Identifier):
            raise self.fail(f"expected the name of {_a(what)}, {self.here()}")
        if not node.name:
            raise self.fail(f"the name of {_a(what)} is empty", self._prev)
        return str(node.name)

    def _new_name(self, what: str) -> str:
        """A name that is valid for a new stream, table, view or query."""
        at = self._curr
        name = self._name(what)
        reason = why_no_name(name)
        if reason is not None:
            raise self.fail(reason, at)
        return name

    def _columns(self, clauses: ColumnClauses) -> Schema:
        """Columns in parentheses. ``clauses``: receives what stands behind their types."""
        if not self._match(TokenType.L_PAREN):
            raise self.fail(f"expected the columns in parentheses, {self.here()}")
        fields: list[Field] = []
        names: set[str] = set()
        while not fields or self._match(TokenType.COMMA):
            at = self._curr
            if self._next.text.upper() == "FOR" and at.text.upper() == "WATERMARK":
                self.refuse("WATERMARK FOR", "write TIMESTAMP BY ts LATENESS 5 SECONDS behind )")
            column = Field(self._name("column"), self._type())
            if column.name.lower() in names:
                raise self.fail(f"column '{column.name}' is declared twice", at)
            names.add(column.name.lower())
            fields.append(column)
            if self._curr.text.upper() in _SOURCE_CLAUSES:
                self._source_clause(column.name, clauses)
                if self._match(TokenType.ALIAS, advance=False):
                    raise self.fail("a column is read from the source, or computed: not both")
            elif clauses.computed is not None and self._match(TokenType.ALIAS):
                clauses.computed[column.name] = self._expression()
        if self._match(TokenType.ALIAS, advance=False):
            self.refuse("AS", "only columns of streams are computed: compute it in the queries")
        if self._curr.text.upper() == "GENERATED":
            self.refuse("GENERATED", "write column TYPE AS (expression)")
        if self._curr.text.upper() in _CONSTRAINTS:
            self.refuse(self._curr.text.upper(), "a column has a name and a type, and may be NULL")
        if not self._match(TokenType.R_PAREN):
            raise self.fail(f"expected , or ) behind a column's type, {self.here()}")
        self._check_paths(fields, clauses)
        return tuple(fields)

    def _source_clause(self, column: str, clauses: ColumnClauses) -> None:
        """``PATH 'path'`` or ``METADATA [FROM 'name']``."""
        at = self._curr
        word, text = at.text.upper(), column
        self._advance()
        if word == "PATH" or self._match(TokenType.FROM):
            if not self._match(TokenType.STRING):
                raise self.fail(f"expected a text in quotes, {self.here()}")
            text = self._prev.text
        clauses.offsets[of_column(column)] = OptionOffsets(at.start, self._prev.start)
        if word == "METADATA":
            clauses.metadata[column] = text
            return
        try:
            clauses.paths[column] = parse_path(text)
        except ValueError as e:
            raise self.fail(str(e), self._prev) from None

    def _check_paths(self, fields: list[Field], clauses: ColumnClauses) -> None:
        """Check that columns can be read from one record of JSON."""
        if not clauses.paths:
            return
        known = clauses.metadata.keys() | (clauses.computed or {}).keys()
        read = [(f, clauses.paths.get(f.name, (f.name,))) for f in fields if f.name not in known]
        for n, (column, path) in enumerate(read):
            reason = conflict(column, path, read[:n])
            if reason is not None:
                place = clauses.offsets.get(of_column(column.name))
                at = self._prev.start if place is None else place.value
                raise self.source.error(at, reason)

    def _expression(self) -> exp.Expr:
        """An expression in parentheses."""
        if not self._match(TokenType.L_PAREN):
            raise self.fail(f"expected an expression in parentheses, {self.here()}")
        node = self._parse_disjunction()
        if node is None:
            raise self.fail(f"expected an expression, {self.here()}")
        if not self._match(TokenType.R_PAREN):
            raise self.fail(f"expected ) behind the expression, {self.here()}")
        return node

    def _type(self) -> Any:
        at = self._curr
        plain = SQL_TYPES.get(at.text.upper())
        ends = self._next.token_type in (TokenType.COMMA, TokenType.R_PAREN, TokenType.ALIAS)
        ends = ends or self._next.text.upper() in _SOURCE_CLAUSES
        if plain is not None and ends and at.token_type != TokenType.IDENTIFIER:
            self._advance()  # a short cut: sqlglot takes a hundred times longer
            return plain
        node = self._parse_types(check_func=False, allow_identifiers=False)
        if not isinstance(node, exp.DataType):
            raise self.fail(f"expected a type, {self.here(at)}; {type_choices(at)}", at)
        try:
            return arrow_type(node)
        except ValueError as e:
            raise self.fail(str(e), at) from None

    def _timestamp(self, schema: Schema) -> str:
        at = self._curr
        name = self._name("column")
        found = next((f for f in schema if f.name.lower() == name.lower()), None)
        if found is None:
            choices = did_you_mean(name, [f.name for f in schema])
            raise self.fail(f"there is no column '{name}'; {choices}", at)
        if found.type != TIMESTAMP:
            raise self.fail(
                f"TIMESTAMP BY needs a TIMESTAMP column, but this is {found}; if its values are "
                "numbers, declare it TIMESTAMP and their unit, as in WITH (ts_unit = 'ms')",
                at,
            )
        return found.name

    def _event_time(self, schema: Schema) -> tuple[str, exp.Expr | None]:
        """The event time column, or the expression in parentheses that is the event time."""
        if not self._match(TokenType.L_PAREN, advance=False):
            return self._timestamp(schema), None
        node = self._expression()
        if isinstance(node, exp.Column) and not node.table:
            for field in schema:
                if field.name.lower() == node.name.lower() and field.type == TIMESTAMP:
                    return field.name, None
        return "", node

    def _placed_options(self) -> PlacedOptions:
        """``WITH (key = value, ...)``, values as text; {} without WITH."""
        options: PlacedOptions = {}
        given: set[str] = set()
        if not self._match(TokenType.WITH):
            return options
        if not self._match(TokenType.L_PAREN):
            raise self.fail(f"expected ( and options, {self.here()}")
        while not options or self._match(TokenType.COMMA):
            at = self._curr
            key = self._option_name()
            while self._match(TokenType.DOT):
                key += "." + self._name("option")
            if not self._match(TokenType.EQ):
                raise self.fail(f"expected = behind option '{key}', {self.here()}")
            key = own_option(key)
            if key.lower() in given:
                raise self.fail(f"option '{key}' is given twice", at)
            given.add(key.lower())
            options[key] = (self._option_value(key), self._prev, at)
        if not self._match(TokenType.R_PAREN):
            raise self.fail(f"expected , or ) behind an option, {self.here()}")
        return options

    def _option_name(self) -> str:
        if self._match(TokenType.DISTINCT):  # a keyword elsewhere
            return "distinct"
        return self._name("option")

    def _option_value(self, key: str) -> str:
        sign = "-" if self._match(TokenType.DASH) else ""
        if self._match(TokenType.NUMBER):
            return sign + self._prev.text
        if not sign and self._match(TokenType.STRING):
            return self._prev.text
        if not sign and self._match_set((TokenType.TRUE, TokenType.FALSE)):
            return self._prev.text.lower()
        word = self._curr.text if self._curr.token_type == TokenType.VAR else ""
        advice = f"; a text has single quotes, '{word}'" if word else ""
        raise self.fail(
            f"option '{key}' takes a 'text', a number, TRUE or FALSE, {self.here()}{advice}"
        )


def option_values(options: PlacedOptions) -> dict[str, str]:
    """The values of the options by name."""
    return {key: value for key, (value, _, _) in options.items()}


def option_offsets(options: PlacedOptions) -> dict[str, OptionOffsets]:
    """The offsets of the options in the script, by name."""
    return {
        key: OptionOffsets(name.start, value.start) for key, (_, value, name) in options.items()
    }


def own_option(name: str) -> str:
    """The name of an option, in lower case unless it is an option of a format."""
    low = name.lower()
    for prefix in SIDE_PREFIXES:
        if low.startswith(prefix):
            return prefix + own_option(name[len(prefix) :])
    if low.startswith(_HISTORY):
        return low if low in _OWN else _HISTORY + name[len(_HISTORY) :]
    return low if low in _OWN else name


def type_choices(at: Token) -> str:
    """The valid types for a message, the most similar to the token's text first."""
    return did_you_mean(at.text.upper(), type_names())


def _a(what: str) -> str:
    """A noun with its indefinite article."""
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"
