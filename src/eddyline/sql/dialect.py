"""The SELECT language: Spark's as sqlglot parses it, plus stream windows, minus what is refused.

Stream windows are in :mod:`eddyline.sql.window_syntax`; a trailing ``WINDOW ...`` becomes the
argument ``windows`` of the SELECT. Clauses that Eddyline does not run are refused here, where the
keyword's place is known.

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
from sqlglot.tokenizer_core import Token, TokenType

from eddyline.sql.window_syntax import WindowParser

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


def _refuse(clause: tuple[str, str]) -> Callable[[EddylineParser], Any]:
    name, advice = clause
    return lambda self: self.refuse(name, advice)


class EddylineParser(WindowParser):
    """Parses the SELECT language; :mod:`eddyline.sql.parser` adds the statements around it."""

    STRICT_CAST = True
    FUNCTIONS: ClassVar[dict[str, Any]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        name: SparkParser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST", "EXTRACT")
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

    def raise_error(self, message: str, token: Token | None = None) -> None:
        """As sqlglot's, but with the offset at which the word starts instead of where it ends."""
        at = token or self._curr or self._prev
        if message.startswith("Required keyword"):  # names sqlglot's classes
            message = f"something is missing behind '{self._prev.text}'"
        raise ParseError.new(message, description=message, line=at.line, col=at.start)

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

    def _parse_interval(self, *args: Any, **kwargs: Any) -> Any:
        start = self._curr
        interval = super()._parse_interval(*args, **kwargs)
        if isinstance(interval, exp.Interval):
            interval.update_positions(start)
        return interval

    def _parse_lateral(self) -> exp.Lateral | None:
        if self._match(TokenType.LATERAL, advance=False):
            self.refuse("LATERAL", "use a join")
        return super()._parse_lateral()

    def parse_set_operation(self, *args: Any, **kwargs: Any) -> exp.SetOperation | None:
        """As sqlglot's: the set operation behind a SELECT, if there is one; only UNION passes."""
        word = self._curr.text.upper()
        if self._curr.token_type in (TokenType.EXCEPT, TokenType.INTERSECT):
            self.refuse(word, "UNION [ALL] is the set operation that is run")
        return super().parse_set_operation(*args, **kwargs)


class Eddyline(Spark):
    """Eddyline's dialect of SQL."""

    class Tokenizer(Spark.Tokenizer):
        """Spark 4's tokens."""

        STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'", '"']  # 'it''s', as of Spark 4
        # sqlglot takes all that follows EXPLAIN as one opaque string
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            **Spark.Tokenizer.KEYWORDS,
            "EXPLAIN": TokenType.VAR,
        }

    Parser = EddylineParser
