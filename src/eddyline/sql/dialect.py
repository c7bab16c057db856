"""The SELECT language: Spark's as sqlglot parses it, plus stream windows, minus what is refused.

A window stands behind the name of a stream, before or after the alias, and becomes the argument
``window`` of the table's node; a trailing ``WINDOW ...`` becomes the argument ``windows`` of the
SELECT. Clauses that Eddyline does not run are refused here, where the keyword's place is known.

Function calls all parse to ``exp.Anonymous`` (name and arguments as written): which functions
exist, and on what types, is for :mod:`eddyline.algebra.functions` to say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokens import Token, TokenType

from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.durations import duration_us, parse_duration
from eddyline.sql.source import Source

WINDOW_FORMS: Final = "[RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED]"

_BAG_ADVICE = "a standing query answers with a bag of rows: sort and cut where you read it"
_REFUSED_CLAUSES: Final[dict[TokenType, tuple[str, str]]] = {
    TokenType.ORDER_BY: ("ORDER BY", _BAG_ADVICE),
    TokenType.SORT_BY: ("SORT BY", _BAG_ADVICE),
    TokenType.CLUSTER_BY: ("CLUSTER BY", _BAG_ADVICE),
    TokenType.DISTRIBUTE_BY: ("DISTRIBUTE BY", _BAG_ADVICE),
    TokenType.LIMIT: ("LIMIT", _BAG_ADVICE),
    TokenType.FETCH: ("FETCH", _BAG_ADVICE),
    TokenType.OFFSET: ("OFFSET", _BAG_ADVICE),
    TokenType.QUALIFY: ("QUALIFY", "use GROUP BY ... HAVING over a stream window"),
    TokenType.MATCH_RECOGNIZE: ("MATCH_RECOGNIZE", "use a window join of the stream with itself"),
    TokenType.TABLE_SAMPLE: ("TABLESAMPLE", "filter on a hash of a column instead"),
    TokenType.CONNECT_BY: ("CONNECT BY", "recursive queries are out of the language"),
}

#: Words in front of JOIN that make it another join than the inner one.
_REFUSED_JOINS: Final = frozenset(
    {"LEFT", "RIGHT", "FULL", "OUTER", "SEMI", "ANTI", "NATURAL", "ASOF", "POSITIONAL"}
)


class StreamWindow(exp.Expression):
    """A window as written: ``kind`` is RANGE (``size`` in us), ROWS (in rows) or UNBOUNDED.

    ``expressions`` are the identifiers of PARTITION BY.
    """

    arg_types: ClassVar[dict[str, bool]] = {"kind": True, "size": False, "expressions": False}


def _refuse(clause: tuple[str, str]) -> Callable[[EddylineParser], Any]:
    name, advice = clause
    return lambda self: self.refuse(name, advice)


class EddylineParser(SparkParser):
    """Parses the SELECT language; :mod:`eddyline.sql.parser` adds the statements around it."""

    STRICT_CAST = True
    FUNCTIONS: ClassVar[dict[str, Any]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        name: SparkParser.FUNCTION_PARSERS[name] for name in ("CAST", "EXTRACT")
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        "CASE": SparkParser.NO_PAREN_FUNCTION_PARSERS["CASE"]
    }
    SET_OP_MODIFIERS: ClassVar[set[str]] = {*SparkParser.SET_OP_MODIFIERS, "windows"}
    QUERY_MODIFIER_PARSERS: ClassVar[dict[TokenType, Any]] = {
        **SparkParser.QUERY_MODIFIER_PARSERS,
        TokenType.WINDOW: lambda self: ("windows", self.trailing_window()),
        **{token: _refuse(clause) for token, clause in _REFUSED_CLAUSES.items()},
    }

    @property
    def source(self) -> Source:
        return Source(self.sql)

    def fail(self, message: str, at: Token | None = None) -> SqlError:
        """An error at a token, by default the next one."""
        return self.source.error(at or self._curr or self._prev, message)

    def refuse(self, what: str, instead: str, at: Token | None = None) -> Any:
        """Raise the error for a clause that is understood but not run."""
        at = at or self._curr
        raise self.source.error(at, f"{what} is not supported: {instead}", UnsupportedError)

    def raise_error(self, message: str, token: Token | None = None) -> None:  # type: ignore[override]
        """As sqlglot's, but with the offset at which the word starts instead of where it ends."""
        at = token or self._curr or self._prev
        if message.startswith("Required keyword"):  # names sqlglot's classes
            message = f"something is missing behind '{self._prev.text}'"
        raise ParseError.new(message, description=message, line=at.line, col=at.start)

    # -- windows -----------------------------------------------------------------------------

    def _parse_table(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        table = super()._parse_table(*args, **kwargs)
        return self._with_window(table) if table is not None else None

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        if isinstance(this, exp.Table):
            return self._with_window(this)
        return super()._parse_bracket(this)

    def _parse_subquery(
        self, this: exp.Expr | None, parse_alias: bool = True
    ) -> exp.Subquery | None:
        if this is None or not self._at_window():
            return super()._parse_subquery(this, parse_alias)
        window = self._parse_window_brackets()
        subquery = super()._parse_subquery(this, parse_alias)
        assert subquery is not None
        subquery.set("window", window)
        return subquery

    def _at_window(self) -> bool:
        return self._match(TokenType.L_BRACKET, advance=False)

    def _with_window(self, table: exp.Expr) -> exp.Expr:
        while self._at_window():
            start = self._curr
            window = self._parse_window_brackets()
            if table.args.get("window"):
                raise self.fail(f"'{table.alias_or_name}' has a window already", start)
            table.set("window", window)
        return table

    def _parse_window_brackets(self) -> StreamWindow:
        start = self._curr
        self._match(TokenType.L_BRACKET)
        window = self._window_body(start)
        if not self._match(TokenType.R_BRACKET):
            raise self.fail(f"expected ] to end the window, {self.here()}")
        return window

    def trailing_window(self) -> StreamWindow:
        """``WINDOW 10 SECONDS``, ``WINDOW [RANGE ...]``, ``WINDOW ROWS n``."""
        start = self._curr
        self._match(TokenType.WINDOW)
        if self._next.token_type == TokenType.ALIAS:
            self.refuse("a named OVER window", f"write a stream window, {WINDOW_FORMS}", start)
        if self._at_window():
            return self._parse_window_brackets()
        if self._curr.token_type in (TokenType.NUMBER, TokenType.STRING, TokenType.INTERVAL):
            return self._new_window(start, "RANGE", self.duration())
        return self._window_body(start)

    def _window_body(self, start: Token) -> StreamWindow:
        if self._match_text_seq("RANGE"):
            at = self._curr
            size = self.duration()
            if size <= 0:
                raise self.fail("a RANGE window must be longer than zero", at)
            return self._new_window(start, "RANGE", size)
        if self._match_text_seq("NOW"):
            return self._new_window(start, "RANGE", 1)
        if self._match_text_seq("UNBOUNDED"):
            return self._new_window(start, "UNBOUNDED")
        columns = None
        if self._match(TokenType.PARTITION_BY):
            columns = self._parse_csv(lambda: self._parse_id_var(any_token=False))
            if not columns:
                raise self.fail(f"expected the columns of PARTITION BY, {self.here()}")
        if self._match_text_seq("ROWS"):
            return self._new_window(start, "ROWS", self._row_count(), columns)
        raise self.fail(f"unknown window, {self.here()}; valid: {WINDOW_FORMS}")

    def _new_window(
        self, start: Token, kind: str, size: int | None = None, columns: Any = None
    ) -> StreamWindow:
        window = StreamWindow(kind=kind, size=size, expressions=columns)
        window.update_positions(start)
        return window

    def _row_count(self) -> int:
        at = self._curr
        if not self._match(TokenType.NUMBER) or not at.text.isdigit() or int(at.text) == 0:
            raise self.fail(f"ROWS takes a whole number of rows above zero, {self.here(at)}", at)
        return int(at.text)

    def duration(self) -> int:
        """``5 SECONDS``, ``INTERVAL '5' SECONDS`` or ``'5 seconds'``, in microseconds."""
        self._match(TokenType.INTERVAL)
        at = self._curr
        sign = "-" if self._match(TokenType.DASH) else ""
        if not self._match_set((TokenType.NUMBER, TokenType.STRING)):
            raise self.fail(f"expected a duration such as 10 SECONDS, {self.here()}")
        amount = sign + self._prev.text
        try:
            if " " in amount.strip():
                return parse_duration(amount)
            if not self._curr or self._curr.token_type == TokenType.R_BRACKET:
                raise self.fail(f"{amount} of which unit? Write for instance {amount} SECONDS", at)
            at = self._curr
            self._advance()
            return duration_us(amount, at.text)
        except ValueError as e:
            raise self.fail(str(e), at) from None

    def here(self, at: Token | None = None) -> str:
        """What stands at a token, for messages."""
        at = at or self._curr
        return f"got '{at.text}'" if at else "but the statement ends"

    # -- what Spark's parser would swallow or parse as something that is not run -----------------

    def _parse_table_alias(self, *args: Any, **kwargs: Any) -> exp.TableAlias | None:
        return None if self._at_emit() else super()._parse_table_alias(*args, **kwargs)

    def _parse_alias(self, this: exp.Expr | None, explicit: bool = False) -> exp.Expr | None:
        return this if self._at_emit() else super()._parse_alias(this, explicit)

    def _at_emit(self) -> bool:
        """EMIT begins a clause; as an alias it takes AS or backticks."""
        return self._curr.token_type == TokenType.VAR and self._curr.text.upper() == "EMIT"

    def _parse_table_hints(self) -> None:
        """WITH (...) behind a table holds a query's options here, never hints."""
        return None

    def _parse_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
        if self._match(TokenType.COMMA):  # sqlglot would try, and lose the error's place
            tokens = kwargs.get("alias_tokens")
            return self.expression(exp.Join(this=self._parse_table(alias_tokens=tokens)))
        return super()._parse_join(*args, **kwargs)

    def _parse_join_parts(self) -> tuple[Token | None, Token | None, Token | None]:
        parts = super()._parse_join_parts()
        for word in parts:
            if word and word.text.upper() in _REFUSED_JOINS:
                self.refuse(f"{word.text.upper()} JOIN", "only inner joins are run", word)
        return parts

    def _parse_csv(self, parse_method: Any, sep: TokenType = TokenType.COMMA) -> list[Any]:
        items = super()._parse_csv(parse_method, sep)
        if items and self._prev.token_type == sep:
            raise self.fail(f"expected one more behind '{self._prev.text}', {self.here()}")
        return items

    def _parse_projections(self) -> Any:
        parsed = super()._parse_projections()
        if not parsed[0]:
            raise self.fail(f"expected what to SELECT, {self.here()}")
        return parsed

    def _parse_hint(self) -> exp.Hint | None:
        if self._match(TokenType.HINT, advance=False):
            self.refuse("a hint", "joins run in the order written")
        return None

    def _parse_select_query(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        start = self._curr
        query = super()._parse_select_query(*args, **kwargs)
        if query is not None:
            first = query
            while isinstance(first, exp.SetOperation):
                first = first.this
            first.update_positions(start)
        return query

    def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
        start = self._index
        parsed = super()._parse_window(this, alias)
        over = [t for t in self._tokens[start : self._index] if t.token_type == TokenType.OVER]
        if over:
            self.refuse("OVER", "put a window on the stream and use GROUP BY", over[0])
        return parsed

    def _parse_lateral(self) -> exp.Lateral | None:
        if self._match(TokenType.LATERAL, advance=False):
            self.refuse("LATERAL", "use a join")
        return super()._parse_lateral()

    def parse_set_operation(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        word = self._curr.text.upper()
        if self._curr.token_type in (TokenType.EXCEPT, TokenType.INTERSECT):
            self.refuse(word, "UNION [ALL] is the set operation that is run")
        return super().parse_set_operation(*args, **kwargs)


class Eddyline(Spark):
    """Eddyline's dialect of SQL."""

    class Tokenizer(Spark.Tokenizer):
        # sqlglot takes all that follows EXPLAIN as one opaque string
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            **Spark.Tokenizer.KEYWORDS,
            "EXPLAIN": TokenType.VAR,
        }

    Parser = EddylineParser
