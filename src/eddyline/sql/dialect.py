"""The SELECT language: sqlglot's parser for Spark, plus stream windows, minus unsupported clauses.

Stream windows are in :mod:`eddyline.sql.window_syntax`, set operations in
:mod:`eddyline.sql.set_syntax`; a trailing ``WINDOW ...`` becomes the argument ``windows`` of the
SELECT. Clauses that Eddyline does not run are refused here, with the position of the keyword.

Function calls all parse to ``exp.Anonymous`` (name and arguments as written);
:mod:`eddyline.algebra.functions` checks that a function exists for the argument types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from eddyline.sql.call_syntax import CALLS, existence
from eddyline.sql.match_syntax import MatchParser
from eddyline.sql.rewrites import rewritten

#: The first token of a query.
QUERY_TOKENS: Final = frozenset({TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN})

_BAG_ADVICE = "the answer of a standing query is a bag of rows: sort and limit it when you read it"
_REFUSED_CLAUSES: Final[dict[TokenType, tuple[str, str]]] = {
    TokenType.SORT_BY: ("SORT BY", _BAG_ADVICE),
    TokenType.CLUSTER_BY: ("CLUSTER BY", _BAG_ADVICE),
    TokenType.DISTRIBUTE_BY: ("DISTRIBUTE BY", _BAG_ADVICE),
    TokenType.MATCH_RECOGNIZE: ("MATCH_RECOGNIZE here", "write it behind a stream in FROM"),
    TokenType.TABLE_SAMPLE: ("TABLESAMPLE", "ON OVERLOAD SHED drops rows under overload"),
    TokenType.CONNECT_BY: ("CONNECT BY", "recursive queries are not part of the language"),
}

#: Join types that are not supported, by their first word: what to write instead.
_REFUSED_JOINS: Final = {
    "POSITIONAL": "join on equalities and windows",
}


def _refuse(clause: tuple[str, str]) -> Callable[[EddylineParser], Any]:
    name, advice = clause
    return lambda self: self.refuse(name, advice)


def _arrow(kind: type[exp.Expr]) -> Callable[[Any, exp.Expr, exp.Expr], exp.Expr]:
    """``->`` or ``->>`` with its right side as written: sqlglot would read it as a path."""
    return lambda self, this, key: self.expression(kind(this=this, expression=key))


_CLOCKS: Final[dict[str, type[exp.Expr]]] = {
    "CURRENT_TIMESTAMP": exp.CurrentTimestamp,
    "CURRENT_DATE": exp.CurrentDate,
    "CURRENT_TIME": exp.CurrentTime,
}


def _clock(kind: type[exp.Expr]) -> Callable[[EddylineParser], exp.Expr]:
    """A function that is written with or without parentheses, at its position."""

    def parse_clock(self: EddylineParser) -> exp.Expr:
        word = self._prev
        if self._match_pair(TokenType.L_PAREN, TokenType.R_PAREN, advance=False):
            self._advance(2)
        node = self.expression(kind())
        node.update_positions(word)
        return node

    return parse_clock


def _closed(parse: Callable[[Any], Any]) -> Callable[[EddylineParser], Any]:
    """A function's own parser that also requires the closing parenthesis (sqlglot does not)."""

    def parse_closed(self: EddylineParser) -> Any:
        result = parse(self)
        if not self._match(TokenType.R_PAREN, advance=False):
            raise self.fail(f"expected ), {self.here()}")
        return result

    return parse_closed


def _is_overload(token: Token) -> bool:
    return token.token_type == TokenType.VAR and token.text.upper() == "OVERLOAD"


class EddylineParser(MatchParser):
    """Parses the SELECT language; :mod:`eddyline.sql.parser` adds the statements around it."""

    STRICT_CAST = True
    FUNCTIONS: ClassVar[dict[str, Any]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        "EXISTS": _closed(existence),
        **{
            name: _closed(SparkParser.FUNCTION_PARSERS[name])
            for name in ("CAST", "TRY_CAST", "EXTRACT")
        },
        **{name: _closed(parse) for name, parse in CALLS.items()},
    }
    TABLE_ALIAS_TOKENS: ClassVar[set[TokenType]] = {
        t for t in SparkParser.TABLE_ALIAS_TOKENS if t != TokenType.MATCH_CONDITION
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        "CASE": lambda self: self._parse_case(),
        **{name: _clock(kind) for name, kind in _CLOCKS.items()},
    }
    RANGE_PARSERS: ClassVar[dict[TokenType, Any]] = {
        **SparkParser.RANGE_PARSERS,
        TokenType.TILDE: lambda self, this: self._parse_matches(this),
        TokenType.IRLIKE: lambda self, this: self._parse_matches(this, ignores_case=True),
    }
    COLUMN_OPERATORS: ClassVar[dict[TokenType, Any]] = {
        **SparkParser.COLUMN_OPERATORS,
        TokenType.ARROW: _arrow(exp.JSONExtract),
        TokenType.DARROW: _arrow(exp.JSONExtractScalar),
    }
    SET_OP_MODIFIERS: ClassVar[set[str]] = {*SparkParser.SET_OP_MODIFIERS, "windows"}
    QUERY_MODIFIER_PARSERS: ClassVar[dict[TokenType, Any]] = {
        **SparkParser.QUERY_MODIFIER_PARSERS,
        TokenType.WINDOW: lambda self: self.window_clause(),
        **{token: _refuse(clause) for token, clause in _REFUSED_CLAUSES.items()},
    }

    def raise_error(self, message: str, token: Token | None = None) -> None:
        """As sqlglot's, but with the offset of the first character of the word, not of the last."""
        at = token or self._curr or self._prev
        if message.startswith("Required keyword"):  # sqlglot's text names its own classes
            message = f"an expression is missing behind '{self._prev.text}'"
        raise ParseError.new(message, description=message, line=at.line, col=at.start)

    # -- syntax that Spark's parser accepts but Eddyline does not run ---

    def _parse_table_alias(self, *args: Any, **kwargs: Any) -> exp.TableAlias | None:
        if self._at_emit() or self.at_match():
            return None
        at_as = self._match(TokenType.ALIAS, advance=False)
        alias = super()._parse_table_alias(*args, **kwargs)
        if at_as and alias is None:
            raise self.fail(f"expected a name behind AS, {self.here()}")
        return alias

    def _parse_alias(self, this: exp.Expr | None, explicit: bool = False) -> exp.Expr | None:
        if self._at_emit():
            return this
        at_as = self._match(TokenType.ALIAS, advance=False)
        parsed = super()._parse_alias(this, explicit)
        if at_as and not isinstance(parsed, exp.Alias):
            raise self.fail(f"expected a name behind AS, {self.here()}")
        return parsed

    def _at_emit(self) -> bool:
        """Whether EMIT starts a clause here; as an alias it needs AS or backticks."""
        return self._curr.token_type == TokenType.VAR and self._curr.text.upper() == "EMIT"

    def at_overload(self) -> bool:
        """Whether ON OVERLOAD starts a clause here; a column of that name needs backticks."""
        return self._curr.token_type == TokenType.ON and _is_overload(self._next)

    def _parse_table_hints(self) -> None:
        """None: WITH (...) behind a table holds the options of the query, not hints."""
        return None

    def _parse_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
        if self._match(TokenType.COMMA):  # sqlglot backtracks here and loses the error's position
            tokens = kwargs.get("alias_tokens")
            return self.expression(exp.Join(this=self._parse_table(alias_tokens=tokens)))
        join = super()._parse_join(*args, **kwargs)
        if join is not None and join.args.get("using") == []:
            raise self.fail("expected the columns of USING", self._prev)
        if join is not None and isinstance(join.args.get("on"), exp.Column):
            on = self._tokens[self._index - 2]
            if on.token_type == TokenType.ON and _is_overload(self._prev):  # not a condition
                join.set("on", None)
                self._retreat(self._index - 2)
        return join

    def _parse_join_parts(self) -> tuple[Token | None, Token | None, Token | None]:
        parts = super()._parse_join_parts()
        for word in parts:
            advice = _REFUSED_JOINS.get(word.text.upper()) if word else None
            if word and advice:
                self.refuse(f"{word.text.upper()} JOIN", advice, word)
        _, side, kind = parts
        if kind and kind.token_type == TokenType.OUTER and not side:
            raise self.fail("which OUTER JOIN? Write LEFT, RIGHT or FULL in front", kind)
        return parts

    def _parse_csv(self, parse_method: Any, sep: TokenType = TokenType.COMMA) -> list[Any]:
        """As sqlglot's, which drops missing items; here each comma needs an item on both sides."""
        found: list[Any] = []

        def item() -> Any:
            found.append(parse_method())
            if found[-1] is None and len(found) > 1:
                raise self.fail(f"expected another item behind '{self._prev.text}', {self.here()}")
            return found[-1]

        items = super()._parse_csv(item, sep)
        if len(found) > 1 and found[0] is None:
            raise self.fail("expected an item before the first comma")
        return items

    def _parse_assignment(self) -> exp.Expr | None:
        return self._parse_disjunction()

    def _parse_at_time_zone(self, this: exp.Expr | None) -> exp.Expr | None:
        at = self._curr
        if this is None or not self._match_text_seq("AT", "TIME", "ZONE"):
            return this
        zone = self._parse_unary()
        if zone is None:
            raise self.fail(f"expected the name of a time zone, {self.here()}")
        if self._match_text_seq("AT", "TIME", "ZONE", advance=False):
            advice = "write to_utc_timestamp(ts, 'zone') for the instant of a local time"
            self.refuse("AT TIME ZONE behind another", advice)
        call = exp.Anonymous(this="from_utc_timestamp", expressions=[this, zone])
        local = self.expression(call)
        local.update_positions(at)
        return local

    def _parse_disjunction(self) -> exp.Expr | None:
        return self._connected(exp.Or, TokenType.OR, self._parse_conjunction)

    def _parse_conjunction(self) -> exp.Expr | None:
        return self._connected(exp.And, TokenType.AND, self._parse_equality)

    def _connected(
        self, kind: type[exp.Connector], word: TokenType, parse: Callable[[], exp.Expr | None]
    ) -> exp.Expr | None:
        """Operands of ANDs or ORs as a balanced tree, so that long chains are not deep."""
        level = [parse()]
        while self._match(word):
            level.append(parse())
        while len(level) > 1:
            pairs = zip(level[::2], level[1::2], strict=False)
            odd = level[len(level) & ~1 :]
            level = [self.expression(kind(this=a, expression=b)) for a, b in pairs] + odd
        return level[0]

    def _parse_between(self, this: exp.Expr | None) -> exp.Between:
        if self._curr.text.upper() == "SYMMETRIC":
            self.refuse("BETWEEN SYMMETRIC", "write BETWEEN least(a, b) AND greatest(a, b)")
        low = self._parse_bitwise()
        self._expect(TokenType.AND, "the AND of BETWEEN")
        return self.expression(exp.Between(this=this, low=low, high=self._parse_bitwise()))

    def _parse_matches(self, this: exp.Expr | None, *, ignores_case: bool = False) -> exp.Expr:
        """PostgreSQL's ``text ~ 'pattern'``, or ``~*`` without case."""
        sign = self._prev
        pattern = self._parse_bitwise()
        if ignores_case:
            if not isinstance(pattern, exp.Literal) or not pattern.is_string:
                raise self.fail("~* takes a constant regular expression", sign)
            pattern.set("this", f"(?i){pattern.this}")
        matches = self.expression(exp.RegexpLike(this=this, expression=pattern))
        matches.update_positions(sign)
        return matches

    def _parse_case(self) -> exp.Case:
        operand = None
        if not self._match(TokenType.WHEN, advance=False):
            operand = self._parse_disjunction()
        branches = []
        while self._match(TokenType.WHEN):
            condition = self._parse_disjunction()
            self._expect(TokenType.THEN, "THEN")
            value = self._parse_disjunction()
            branches.append(self.expression(exp.If(this=condition, true=value)))
        if not branches:
            raise self.fail(f"expected WHEN, {self.here()}")
        default = self._parse_disjunction() if self._match(TokenType.ELSE) else None
        self._expect(TokenType.END, "the END of CASE")
        return self.expression(exp.Case(this=operand, ifs=branches, default=default))

    def _expect(self, token: TokenType, what: str) -> None:
        if not self._match(token):
            raise self.fail(f"expected {what}, {self.here()}")

    def _parse_projections(self) -> Any:
        if self._curr.text.upper() == "TOP" and self._next.token_type == TokenType.NUMBER:
            self.refuse("TOP", "write ORDER BY x DESC LIMIT 5 at the end")
        parsed = super()._parse_projections()
        if not parsed[0]:
            raise self.fail(f"expected the columns to SELECT, {self.here()}")
        return parsed

    def _parse_hint(self) -> exp.Hint | None:
        if self._match(TokenType.HINT, advance=False):
            super()._parse_hint()  # no hint changes an answer
        return None

    def _parse_statement(self) -> exp.Expr | None:
        """The query in a WITH entry or in parentheses; sqlglot would accept any statement here."""
        if self._curr.token_type not in QUERY_TOKENS:
            raise self.fail(f"expected a SELECT, {self.here()}")
        query = self._parse_set_operations(self._parse_select(nested=True))
        found: exp.Expr | None = self._parse_query_modifiers(query)
        return found

    def _parse_select_query(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        start = self._curr
        query = super()._parse_select_query(*args, **kwargs)
        if query is not None:
            first = query
            while isinstance(first, exp.SetOperation):
                first = first.this
            first.update_positions(start)
        if isinstance(query, exp.Select):
            rewritten(query, self.source)
        return query

    def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
        start = self._index
        parsed = super()._parse_window(this, alias)
        over = [t for t in self._tokens[start : self._index] if t.token_type == TokenType.OVER]
        if over and parsed is not None:
            parsed.update_positions(over[0])
        return parsed

    def _parse_interval(self, *args: Any, **kwargs: Any) -> Any:
        start = self._curr
        interval = self._interval_of_words() or super()._parse_interval(*args, **kwargs)
        if isinstance(interval, exp.Interval):
            interval.update_positions(start)
        return interval

    def _interval_of_words(self) -> exp.Interval | None:
        """An INTERVAL whose text has several words, as written; sqlglot would read some of them."""
        text = self._next
        is_text = self._match(TokenType.INTERVAL, advance=False) and text
        if not is_text or text.token_type != TokenType.STRING:
            return None
        if len(text.text.split()) < 2 and ":" not in text.text:
            return None
        self._advance(2)
        amount = self.expression(exp.Literal(this=text.text, is_string=True), text)
        unit = None
        if self._next and self._next.text.upper() == "TO":
            units = [self._curr.text, self._tokens[self._index + 2].text]
            self._advance(3)
            first, last = (exp.Var(this=u.upper()) for u in units)
            unit = exp.IntervalSpan(this=first, expression=last)
        return self.expression(exp.Interval(this=amount, unit=unit))

    def _parse_pivots(self) -> list[exp.Pivot] | None:
        if self._curr.token_type in (TokenType.PIVOT, TokenType.UNPIVOT):
            advice = "write SUM(x) FILTER (WHERE k = 'a') AS a, ... with GROUP BY"
            if self._curr.token_type == TokenType.UNPIVOT:
                advice = "write a SELECT for each column, between UNION ALL"
            self.refuse(self._curr.text.upper(), advice)
        return None

    def _parse_version(self) -> exp.Version | None:
        start = self._prev
        version = super()._parse_version()
        if version is None:
            return None
        if version.args.get("kind") != "AS OF":
            advice = "write FOR SYSTEM_TIME AS OF a.ts behind the joined item"
            self.refuse("a span of versions", advice, start)
        version.update_positions(start)
        return version


class Eddyline(Spark):
    """Eddyline's dialect of SQL."""

    class Tokenizer(Spark.Tokenizer):
        """Spark 4's tokens, but "..." quotes names, as in standard SQL, and not text."""

        QUOTES: ClassVar[list[tuple[str, str] | str]] = ["'"]
        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ["`", '"']
        IDENTIFIER_ESCAPES: ClassVar[list[str]] = ["`", '"']
        STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'"]  # 'it''s', as of Spark 4
        HEREDOC_STRINGS: ClassVar[list[str | tuple[str, str]]] = ["$"]
        HEREDOC_TAG_IS_IDENTIFIER: ClassVar[bool] = True
        HEREDOC_STRING_ALTERNATIVE: ClassVar[TokenType] = TokenType.PARAMETER
        RAW_STRINGS: ClassVar[list[str | tuple[str, str]]] = [("r'", "'"), ("R'", "'")]
        # sqlglot reads all that follows EXPLAIN as one opaque string; |> starts a pipe syntax
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            **{k: v for k, v in Spark.Tokenizer.KEYWORDS.items() if v != TokenType.PIPE_GT},
            "EXPLAIN": TokenType.VAR,
            "MATCH_CONDITION": TokenType.MATCH_CONDITION,
        }

    Parser = EddylineParser
