"""The parser of statements around the SELECT language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, cast

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from eddyline.algebra.catalog import Emit, StreamDef, TableDef
from eddyline.algebra.functions.alternatives import ALTERNATIVES, GROUP_WINDOWS
from eddyline.errors import SqlError, did_you_mean
from eddyline.sql.computed_columns import ComputedSyntax, with_computed
from eddyline.sql.definitions import (
    ColumnClauses,
    option_offsets,
    option_values,
    type_choices,
)
from eddyline.sql.dialect import QUERY_TOKENS, Eddyline
from eddyline.sql.emit_syntax import EmitParser
from eddyline.sql.function_syntax import FunctionParser
from eddyline.sql.nesting import check_depth, check_nesting
from eddyline.sql.numbers import shortened
from eddyline.sql.size_options import SizedInput, take_sizes
from eddyline.sql.source import SourceText
from eddyline.sql.statements import (
    AlterQuery,
    CreateQuery,
    CreateStream,
    CreateTable,
    CreateView,
    Drop,
    Explain,
    ForEach,
    ObjectKind,
    OptionOffsets,
    ResetWatermark,
    Select,
    SelectStatement,
    SetOption,
    Show,
    Statement,
)
from eddyline.sql.time_options import take_lateness_by, take_time_unit
from eddyline.sql.unclosed import unclosed_error

_KINDS: Final[tuple[ObjectKind, ...]] = ("stream", "table", "view", "query")
_STATEMENTS: Final = (
    *(f"{verb} {kind.upper()}" for verb in ("CREATE", "DROP") for kind in _KINDS),
    "CREATE FUNCTION",
    "ALTER STREAM",
    "ALTER QUERY",
    "SET",
    "SHOW",
    "DESCRIBE",
    "EXPLAIN",
    "SELECT",
)
_WRITES: Final = "rows are read from the sources of streams and tables, and written to query sinks"
_SETTINGS: Final = "write SET option = value, before the first query"
_SHOWN: Final = ("STREAMS", "TABLES", "VIEWS", "QUERIES", "FUNCTIONS")
_OTHER_STATEMENTS: Final = {
    "INSERT": "write CREATE QUERY name AS SELECT ... WITH (sink = ...)",
    **dict.fromkeys(("UPDATE", "DELETE", "MERGE", "TRUNCATE", "COPY", "LOAD", "VALUES"), _WRITES),
    **dict.fromkeys(("USE", "RESET"), _SETTINGS),
    "ALTER": "DROP it, and CREATE it again",
}
_OTHER_KINDS: Final = {
    "MATERIALIZED": "a query keeps its answer up to date: write CREATE QUERY",
    "SOURCE": "write CREATE STREAM, or CREATE TABLE",
    "SINK": "sinks are options of a query: CREATE QUERY name AS SELECT ... WITH (sink = ...)",
    "SCHEMA": "there are no databases and schemas",
    "DATABASE": "there are no databases and schemas",
    "INDEX": "the engine keeps the indexes that its queries need",
}
_INSTEAD: Final = {"&&": "AND", "!": "NOT"}
_DIALECT: Final = Eddyline()
_TIME_CLAUSES: Final = ("LATENESS", "IDLE AFTER", "AHEAD AT MOST")
_UPDATES: Final = ("static", "non-retroactive", "retroactive")


class StatementParser(EmitParser, FunctionParser):
    """The statements around the SELECT language."""

    def statements(self, sql: str, span: tuple[int, int] | None = None) -> list[Statement]:
        """All statements of the text; errors of sqlglot are raised as SqlErrors.

        Args:
            span: of the only statements to parse; None: the whole text.
        """
        source = SourceText(sql)
        try:
            if span is None:
                tokens = _DIALECT.tokenize(sql)
            else:
                tokens = _DIALECT.tokenize(sql[slice(*span)])
                for token in tokens:
                    token.start += span[0]
                    token.end += span[0]
            check_nesting(tokens, source)
            parsed = self._parse(cast(Any, StatementParser._statement), tokens, sql)
        except TokenError:
            raise unclosed_error(source) from None
        except ParseError as e:
            raise self._translated(source, e) from None
        return [s for s in cast("list[Statement | None]", parsed) if s is not None]

    def _translated(self, source: SourceText, error: ParseError) -> SqlError:
        """A ParseError (whose ``col`` is an offset here, see ``raise_error``) as a SqlError."""
        detail = error.errors[0]
        offset, what = int(detail["col"]), str(detail["description"])
        if "Unexpected token" in what or what.startswith("Expecting )"):
            self._refuse_group_window()
        if "Unexpected token" in what:
            at = self._curr
            advice = self.double_quotes(at) or self._advice_for(at)
            return source.error(offset, f"unexpected '{shortened(at.text)}'{advice}")
        if what.startswith("Expected TYPE"):
            return source.error(offset, f"expected a type; {type_choices(self._curr)}")
        if " but got <Token" in what:
            what = f"{what[: what.index(' but got')]}, {self.here()}"
        return source.error(offset, what[0].lower() + what[1:])

    def _advice_for(self, at: Token) -> str:
        """What to write instead of an unexpected token; empty if nothing is known."""
        if at.text in _INSTEAD:
            return f": write {_INSTEAD[at.text]}"
        names = (TokenType.VAR, TokenType.IDENTIFIER)
        behind_name = self._prev is not None and self._prev.token_type in names
        between = behind_name and at.token_type in names
        return "; is a comma or a word missing in front of it?" if between else ""

    def _refuse_group_window(self) -> None:
        """Refuse SESSION(...) and similar calls, which sqlglot parses as keywords."""
        before = self._prev
        if before and before.text.lower() in GROUP_WINDOWS:
            self.refuse(f"{before.text}(...)", ALTERNATIVES[before.text.lower()], before)

    def _statement(self) -> Statement | None:
        start = self._curr
        if not start or self._match(TokenType.SEMICOLON):  # empty, or only a comment
            return None
        if self._match(TokenType.CREATE):
            parse_body = self._create()
        elif self._match(TokenType.DROP):
            parse_body = self._drop
        elif self._match_text_seq("ALTER"):
            parse_body = self._alter
        elif self._match(TokenType.SET):
            parse_body = self._set
        elif self._match_text_seq("EXPLAIN"):
            parse_body = self._explain
        elif start.token_type in QUERY_TOKENS:
            parse_body = self._select_statement
        elif self._match_text_seq("SHOW"):
            parse_body = self._show
        elif self._match_text_seq("DESCRIBE") or self._match_text_seq("DESC"):
            parse_body = self._describe
        else:
            word = start.text.upper()
            advice = _OTHER_STATEMENTS.get(word) or did_you_mean(word, _STATEMENTS)
            raise self.fail(f"unknown statement; {advice}")
        build = parse_body()
        line, column = self.source.position(start.start)
        return build(self._find_sql(start, self._prev), line, column)

    # -- CREATE --------------------------------------------------------

    def _create(self) -> Callable[[], _Build]:
        for words in (("OR", "REPLACE"), ("TEMPORARY",), ("IF", "NOT", "EXISTS")):
            if self._match_text_seq(*words, advance=False):
                self.refuse(f"CREATE {' '.join(words)}", "DROP it first and CREATE it again")
        if self._match_text_seq("PARTIAL", "QUERY"):
            return lambda: self._create_query(in_parts=True)
        if self._match_text_seq("AGGREGATE", "FUNCTION", advance=False) or self._match_text_seq(
            "FUNCTION", advance=False
        ):
            return self._create_function
        return {
            "stream": self._create_stream,
            "table": self._create_table,
            "view": self._create_view,
            "query": self._create_query,
        }[self._kind("CREATE")]

    def _create_stream(self) -> _Build:
        computed: dict[str, exp.Expr] = {}
        clauses = ColumnClauses(computed)
        name, schema = self._new_name("stream"), self._columns(clauses)
        if not self._match_text_seq("TIMESTAMP", "BY"):
            raise self.fail(
                f"expected TIMESTAMP BY and the column that is the event time of '{name}', "
                f"{self.here()}"
            )
        timestamp, time = self._event_time(schema)
        lateness, idle, ahead = self._time_clauses()
        given = self._placed_options()
        sizes = take_sizes(given, schema, "stream", self.source)
        at_unit = given["ts_unit"][2] if "ts_unit" in given else None
        unit, by = take_time_unit(given, self.source), take_lateness_by(given, self.source)
        options = option_values(given)
        stream = StreamDef(name, schema, timestamp, lateness, options, sizes, unit, idle, ahead, by)
        stream = replace(stream, columns=clauses.sources)
        definition = with_computed(stream, ComputedSyntax(computed, time, at_unit), self.source)
        offsets = {**option_offsets(given), **clauses.offsets}
        return lambda text, line, column: CreateStream(text, line, column, definition, offsets)

    def _time_clauses(self) -> tuple[int, int | None, int | None]:
        """``LATENESS d``, ``IDLE AFTER d`` and ``AHEAD AT MOST d``, all optional, in any order; in
        microseconds.
        """
        found: dict[str, int] = {}
        while True:
            at = self._curr
            words = next((w for w in _TIME_CLAUSES if self._match_text_seq(*w.split())), None)
            if words is None:
                return found.get("LATENESS", 0), found.get("IDLE AFTER"), found.get("AHEAD AT MOST")
            if words in found:
                raise self.fail(f"{words} is given twice", at)
            at, found[words] = self._curr, self.duration()
            if found[words] < 0:
                raise self.fail(f"{words} cannot be negative", at)

    def _create_table(self) -> _Build:
        name = self._new_name("table")
        if self._match(TokenType.ALIAS, advance=False):
            self.refuse("CREATE TABLE AS", "write CREATE VIEW, or CREATE QUERY with a sink")
        clauses = ColumnClauses()
        schema = self._columns(clauses)
        given = self._placed_options()
        updates, at, _ = given.pop("updates", ("static", None, None))
        if updates not in _UPDATES:
            raise self.fail(
                f"unknown option updates = '{updates}'; {did_you_mean(updates, _UPDATES)}", at
            )
        kind: SizedInput = "table" if updates == "static" else "changing table"
        sizes = take_sizes(given, schema, kind, self.source)
        unit = take_time_unit(given, self.source) if updates != "static" else None
        options = option_values(given)
        known = clauses.sources
        definition = TableDef(name, schema, cast(Any, updates), options, sizes, unit, known)
        offsets = {**option_offsets(given), **clauses.offsets}
        return lambda text, line, column: CreateTable(text, line, column, definition, offsets)

    def _create_view(self) -> _Build:
        name, select = self._new_name("view"), self._as_select()
        if self._at_emit():
            raise self.fail("a view has no EMIT clause: write it in the query that reads the view")
        if self.at_overload():
            raise self.fail("a view has no ON OVERLOAD: write it in the query that reads the view")
        return lambda text, line, column: CreateView(text, line, column, name, select)

    def _create_query(self, *, in_parts: bool = False) -> _Build:
        name, for_each = self._new_name("query"), self._for_each()
        select = replace(self._as_select(), for_each=for_each)
        emit, (sheds, by), given = self._emit(), self._overload(), self._placed_options()
        options, offsets = option_values(given), option_offsets(given)
        return lambda text, line, column: CreateQuery(
            text, line, column, name, select, emit, options, sheds, offsets, in_parts, by
        )

    def _for_each(self) -> ForEach | None:
        """``FOR EACH ROW OF table [AS name]``; None without it."""
        if not self._match_text_seq("FOR"):
            return None
        for word in ("EACH", "ROW", "OF"):
            if not self._match_text_seq(word):
                raise self.fail(f"expected FOR EACH ROW OF and a table, {self.here()}")
        at = self._curr
        table = self._name("table")
        if not self._match(TokenType.ALIAS, advance=False):
            alias = self._parse_id_var(any_token=False)
            return ForEach(table, alias.name if alias else table, at.start)
        if self._next.token_type in QUERY_TOKENS:  # the AS of the SELECT
            return ForEach(table, table, at.start)
        self._advance()
        return ForEach(table, self._name("row"), at.start)

    def _as_select(self) -> Select:
        if not self._match(TokenType.ALIAS):
            raise self.fail(f"expected AS and a SELECT, {self.here()}")
        return self._select()

    # -- the other statements ------------------------------------------

    def _drop(self) -> _Build:
        kind: ObjectKind = "function"
        if not self._match_text_seq("FUNCTION"):
            kind = self._kind("DROP")
        if self._match_text_seq("IF", "EXISTS", advance=False):
            self.refuse("DROP IF EXISTS", f"write DROP {kind.upper()} name")
        name = self._name(kind)
        return lambda text, line, column: Drop(text, line, column, kind, name)

    def _alter(self) -> _Build:
        if self._match_text_seq("QUERY"):
            return self._alter_query()
        if not self._match_text_seq("STREAM"):
            raise self.fail(f"expected STREAM or QUERY, {self.here()}")
        name = self._name("stream")
        if not self._match_text_seq("RESET", "WATERMARK"):
            raise self.fail(f"expected RESET WATERMARK, {self.here()}")
        return lambda text, line, column: ResetWatermark(text, line, column, name)

    def _alter_query(self) -> _Build:
        name = self._name("query")
        if not self._match(TokenType.WITH, advance=False):
            raise self.fail(f"expected WITH and the options of the sink, {self.here()}")
        given = self._placed_options()
        options, offsets = option_values(given), option_offsets(given)
        return lambda text, line, column: AlterQuery(text, line, column, name, options, offsets)

    def _set(self) -> _Build:
        at_name = self._curr
        name = self._name("option").lower()
        if not self._match(TokenType.EQ):
            raise self.fail(f"expected = and the value of '{name}', {self.here()}")
        at = self._curr
        minus = "-" if self._match(TokenType.DASH) else ""
        value: str | None = None
        if self._match(TokenType.NUMBER):
            value = minus + self._prev.text
        elif not minus and self._match_set((TokenType.STRING, TokenType.TRUE, TokenType.FALSE)):
            value = self._prev.text
        elif minus or not self._match(TokenType.NULL):
            expected = "a number, a text in quotes, TRUE, FALSE or NULL"
            raise self.fail(f"expected {expected}, {self.here()}")
        offsets = OptionOffsets(at_name.start, at.start)
        return lambda text, line, column: SetOption(
            text, line, column, name, value, self.source, offsets
        )

    def _explain(self) -> _Build:
        analyze = self._match_text_seq("ANALYZE")
        target: Select | str
        emit, sheds = Emit(stated=False), False
        by: tuple[exp.Expr, ...] = ()
        if self._curr.token_type in QUERY_TOKENS:
            target, emit = self._select(), self._emit()
            sheds, by = self._overload()
        else:
            self._match_text_seq("QUERY")
            target = self._name("query")
        return lambda text, line, column: Explain(
            text, line, column, target, emit, analyze, sheds, by
        )

    def _show(self) -> _Build:
        word = self._curr.text.upper() if self._curr else ""
        if word not in _SHOWN:
            raise self.fail(f"SHOW what? {did_you_mean(word, _SHOWN)}")
        self._advance()
        return lambda text, line, column: Show(text, line, column, cast(Any, word.lower()))

    def _describe(self) -> _Build:
        for kind in _KINDS:
            if self._next and self._curr.text.upper() == kind.upper():
                self._advance()
                break
        name = self._name("stream, table, view or query")
        return lambda text, line, column: Show(text, line, column, "columns", name)

    def _select_statement(self) -> _Build:
        select, emit, (sheds, by) = self._select(), self._emit(), self._overload()
        return lambda text, line, column: SelectStatement(
            text, line, column, select, emit, sheds, by
        )

    # -- parts ---------------------------------------------------------

    def _select(self) -> Select:
        at = self._curr
        ast = self._parse_statement()
        if not isinstance(ast, exp.Query):
            raise self.fail(f"expected a SELECT, {self.here(at)}", at)
        check_depth(ast, self.source)
        return Select(ast, self.source, span=(at.start, self._prev.end + 1))

    def _kind(self, verb: str) -> ObjectKind:
        for kind in _KINDS:
            if self._match_text_seq(kind.upper()):
                return kind
        word = self._curr.text.upper()
        advice = _OTHER_KINDS.get(word) or did_you_mean(word, [k.upper() for k in _KINDS])
        raise self.fail(f"{verb} what? {advice}")


#: Builds the statement from its text, line and column.
_Build = Callable[[str, int, int], Statement]
