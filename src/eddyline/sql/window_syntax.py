"""The syntax of stream windows: ``[RANGE 5 MINUTES]`` behind a name, ``WINDOW ...`` at the end.

A window follows the name of a stream, before or after the alias, and becomes the argument
``window`` of the table's node; :meth:`WindowParser.trailing_window` parses ``WINDOW ...``.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, NamedTuple

from sqlglot import exp
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from eddyline.algebra.functions.alternatives import ALTERNATIVES, GROUP_WINDOWS
from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.durations import (
    UNITS,
    Interval,
    interval,
    is_unit,
    parse_interval,
    parse_span,
    unit_us,
)
from eddyline.sql.limits import MAX_ROWS
from eddyline.sql.named_windows import with_named_windows
from eddyline.sql.numbers import shortened, whole_number
from eddyline.sql.source import SourceText

WINDOW_FORMS: Final = "[RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED]"

#: Keywords of other SQL dialects for the step of a window.
_STEPS: Final = ("SLIDE", "SLIDES", "HOP", "ADVANCE", "STEP", "EVERY")


class LengthColumn(NamedTuple):
    """``rules.seconds SECONDS``: a column with a length, the unit in singular, and its us."""

    column: exp.Column
    unit: str
    unit_us: int


class StreamWindow(exp.Expression):
    """A window as written: ``kind`` is RANGE (``size`` in us), ROWS (in rows) or UNBOUNDED.

    ``expressions`` are the identifiers of PARTITION BY; with ``row_length``, a LengthColumn,
    ``size`` is the maximum.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "kind": True,
        "size": False,
        "expressions": False,
        "row_length": False,
    }


class WindowParser(SparkParser):
    """Spark's parser with stream windows, and errors positioned at the start of words."""

    @property
    def source(self) -> SourceText:
        """The script that is being parsed."""
        return SourceText(self.sql)

    def fail(self, message: str, at: Token | None = None) -> SqlError:
        """An error at a token, by default the next one."""
        return self.source.error(at or self._curr or self._prev, message)

    def refuse(self, what: str, instead: str, at: Token | None = None) -> Any:
        """Raise the error for a clause that is parsed but not supported."""
        at = at or self._curr
        raise self.source.error(at, f"{what} is not supported: {instead}", UnsupportedError)

    def _parse_table(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        if self._match(TokenType.DOT, advance=False):
            raise self.fail("expected the name of a stream or table, got '.'")
        self._refuse_call()
        table = super()._parse_table(*args, **kwargs)
        if self._curr.token_type in (TokenType.COLON, TokenType.HASH):
            self.refuse(f"'{self._curr.text}' behind a stream", f"windows are {WINDOW_FORMS}")
        return self._with_window(table) if table is not None else None

    def _refuse_call(self) -> None:
        """Refuse functions in FROM, as in ``TABLE(HOP(TABLE s, DESCRIPTOR(ts), ...))``."""
        at = self._index
        while self._tokens[at : at + 1] and self._tokens[at].token_type == TokenType.TABLE:
            at += 2 if self._kind_at(at + 1) == TokenType.L_PAREN else 1
        if self._kind_at(at) == TokenType.VALUES:
            self.refuse("VALUES in FROM", "put the rows into a table", self._tokens[at])
        called = self._kind_at(at + 1) == TokenType.L_PAREN and self._tokens[at].text.isidentifier()
        if not called or self._tokens[at].token_type == TokenType.LATERAL:
            return
        name = self._tokens[at].text
        advice = (
            ALTERNATIVES.get(name.lower())
            or "name a stream, table, view or query, or write SELECT, or LATERAL "
            f"{name}(...) for a function that returns a table"
        )
        self.refuse(f"{name}(...) in FROM", advice, self._tokens[at])

    def _kind_at(self, index: int) -> TokenType | None:
        return self._tokens[index].token_type if index < len(self._tokens) else None

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        if isinstance(this, exp.Table):
            return self._with_window(this)
        if isinstance(this, exp.Anonymous) and self._at_window():  # array(1, 2)[0] is not ARRAY[0]
            this = self.expression(exp.Paren(this=this))
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
                raise self.fail(f"'{table.alias_or_name}' already has a window", start)
            table.set("window", window)
        return table

    def _parse_window_brackets(self) -> StreamWindow:
        start = self._curr
        self._match(TokenType.L_BRACKET)
        window = self._window_body(start)
        if self._curr.text.upper() in _STEPS:
            self.refuse(f"{self._curr.text} in a window", ALTERNATIVES["hop"])
        if not self._match(TokenType.R_BRACKET):
            raise self.fail(f"expected ] to end the window, {self.here()}")
        return window

    def window_clause(self) -> tuple[str, Any]:
        """The windows of OVER by name, ``WINDOW w AS (...)``; or that of streams."""
        if self._kind_at(self._index + 2) == TokenType.ALIAS:
            return "named_windows", self._parse_window_clause()
        return "windows", self.trailing_window()

    def _parse_query_modifiers(self, this: Any) -> Any:
        found = super()._parse_query_modifiers(this)
        if isinstance(found, exp.Select):
            named = found.args.pop("named_windows", None) or []
            with_named_windows(found, named, self.source)
        return found

    def trailing_window(self) -> StreamWindow:
        """``WINDOW 10 SECONDS``, ``WINDOW [RANGE ...]``, ``WINDOW ROWS n``."""
        start = self._curr
        if self._next.token_type == TokenType.L_PAREN:
            self.refuse("window(...)", ALTERNATIVES["window"])
        self._match(TokenType.WINDOW)
        if self._at_window():
            return self._parse_window_brackets()
        if self._curr.token_type in (TokenType.NUMBER, TokenType.STRING, TokenType.INTERVAL):
            return self._new_window(start, "RANGE", self.duration())
        return self._window_body(start)

    def _window_body(self, start: Token) -> StreamWindow:
        if self._match_text_seq("RANGE"):
            self._refuse_frame("RANGE")
            at = self._curr
            if self._kind_at(self._index + 1) == TokenType.DOT:
                column = self._length_column()
                most = self._longest(column)
                window = self._new_window(start, "RANGE", most)
                window.set("row_length", column)
                return window
            if self._curr.token_type == TokenType.VAR and is_unit(self._next.text):
                raise self.fail(
                    "expected a duration such as 10 SECONDS, or a column of the row of FOR EACH "
                    f"with its name, as in rules.{self._curr.text} {self._next.text}; {self.here()}"
                )
            length = self.length()
            if length.months:
                message = "a month has no fixed length, so rows would not leave in their order: "
                raise self.fail(message + "write DAYS, or calendar months as [TUMBLE 1 MONTH]", at)
            if length.us <= 0:
                raise self.fail("a RANGE window must be longer than zero", at)
            return self._new_window(start, "RANGE", length.us)
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
            self._refuse_frame("ROWS")
            return self._new_window(start, "ROWS", self._row_count(), columns)
        if self._curr.text.lower() in GROUP_WINDOWS:
            word = self._curr.text
            self.refuse(f"a {word} window", ALTERNATIVES[word.lower()])
        raise self.fail(f"unknown window, {self.here()}; valid: {WINDOW_FORMS}")

    def _length_column(self) -> LengthColumn:
        """``rules.seconds SECONDS``."""
        table = self._parse_id_var(any_token=False)
        self._match(TokenType.DOT)
        name = self._parse_id_var(any_token=True)
        if table is None or name is None:
            raise self.fail(f"expected a column of the row of FOR EACH, {self.here()}")
        if not self._curr.text or self._match(TokenType.R_BRACKET, advance=False):
            shown = f"{table.name}.{name.name}"
            raise self.fail(f"{shown} has no time unit; write for example {shown} SECONDS")
        at = self._curr
        self._advance()
        try:
            us = unit_us(at.text)
        except ValueError as e:
            raise self.fail(str(e), at) from None
        unit = next(u for u in UNITS if unit_us(u) == us)
        return LengthColumn(exp.Column(this=name, table=table), unit, us)

    def _longest(self, length: LengthColumn) -> int:
        """``AT MOST 1 HOUR``, in us."""
        if not self._match_text_seq("AT", "MOST"):
            shown = f"{length.column.table}.{length.column.name} {length.unit}S"
            raise self.fail(
                "this window has no longest length, for which rows are kept; write for example "
                f"{shown} AT MOST 1 HOUR"
            )
        at, most = self._curr, self.duration()
        if most <= 0:
            raise self.fail("a RANGE window must be longer than zero", at)
        return most

    def _refuse_frame(self, kind: str) -> None:
        """Refuse ``BETWEEN``, the frame syntax of OVER."""
        if self._match(TokenType.BETWEEN, advance=False):
            advice = f"a window ends now and has a length only: {WINDOW_FORMS}"
            self.refuse(f"{kind} BETWEEN", advice)

    def _new_window(
        self, start: Token, kind: str, size: int | None = None, columns: Any = None
    ) -> StreamWindow:
        window = StreamWindow(kind=kind, size=size, expressions=columns)
        window.update_positions(start)
        return window

    def _row_count(self) -> int:
        at = self._curr
        rows = whole_number(at.text, MAX_ROWS + 1) if self._match(TokenType.NUMBER) else None
        if not rows:
            message = f"ROWS takes a whole number of rows from 1 to {MAX_ROWS}, {self.here(at)}"
            if self._kind_at(self._index + 1) == TokenType.DOT:
                message += "; the length of a RANGE window may be in a column, not that of ROWS"
            raise self.fail(message, at)
        return rows

    def duration(self) -> int:
        """``5 SECONDS``, ``INTERVAL '5' SECONDS`` or ``'5 seconds'``, in microseconds."""
        self._match(TokenType.INTERVAL)
        first = self._index
        length = self.length()
        try:
            return length.fixed_us(" ".join(t.text for t in self._tokens[first : self._index]))
        except ValueError as e:
            raise self.fail(str(e), self._prev) from None

    def length(self) -> Interval:
        """The same, which may have months."""
        self._match(TokenType.INTERVAL)
        at = self._curr
        sign = "-" if self._match(TokenType.DASH) else ""
        if not self._match_set((TokenType.NUMBER, TokenType.STRING)):
            raise self.fail(f"expected a duration such as 10 SECONDS, {self.here()}")
        amount = sign + self._prev.text
        try:
            if self._at_span():
                first, last = self._curr.text, self._tokens[self._index + 2].text
                self._advance(3)
                return parse_span(amount, first, last)
            if " " in amount.strip() or ":" in amount:
                return parse_interval(amount)
            if not self._curr or self._curr.token_type == TokenType.R_BRACKET:
                raise self.fail(
                    f"{amount} has no time unit; write for example {amount} SECONDS", at
                )
            at = self._curr
            self._advance()
            length = interval(amount, at.text)
            return length.plus(self.length()) if self._at_amount() else length
        except ValueError as e:
            raise self.fail(str(e), at) from None

    def _at_span(self) -> bool:
        """Whether units as ``DAY TO SECOND`` follow."""
        return bool(self._next) and self._next.text.upper() == "TO" and is_unit(self._curr.text)

    def _at_amount(self) -> bool:
        """Whether another amount and its unit follow."""
        if not self._curr or self._curr.token_type != TokenType.NUMBER:
            return False
        return bool(self._next) and is_unit(self._next.text)

    def here(self, at: Token | None = None) -> str:
        """The text of a token, for messages."""
        at = at or self._curr
        if not at:
            return "but the statement ends"
        return f"got '{shortened(at.text)}'{self.double_quotes(at)}"

    def double_quotes(self, at: Token) -> str:
        """A remark for messages about a name in double quotes, which may be meant as text."""
        return " (text needs single quotes)" if self.source.is_in_double_quotes(at) else ""
