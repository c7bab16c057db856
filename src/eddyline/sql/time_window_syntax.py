"""The syntax of windows between fixed instants, and of sessions: functions in FROM, and windows in
brackets.

``FROM TABLE(HOP(TABLE s, DESCRIPTOR(ts), slide, size [, offset]))`` as in the standard and in
Flink, ``HOP(s, ts, slide, size)``, and ``s [HOP size EVERY slide OFFSET offset]``;
``SESSION(TABLE s PARTITION BY k, DESCRIPTOR(ts), gap)`` and ``s [SESSION gap BY k]``. A function's
input becomes the FROM item, with the window as its argument ``windowed``.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Final, TypeAlias

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from eddyline.algebra.time_windows import Kind
from eddyline.sql.durations import Interval
from eddyline.sql.window_lengths import windows_of
from eddyline.sql.window_syntax import StreamWindow, WindowParser

#: A length, and where it is written.
_Length: TypeAlias = tuple[Interval, Token]

#: The names of the arguments of each function, in order; those in brackets may be left out.
ARGUMENTS: Final = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "OFFSET"),
    "HOP": ("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"),
    "SESSION": ("DATA", "TIMECOL", "GAP"),
}
FUNCTION_FORMS: Final = {
    "TUMBLE": "TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
    "HOP": "HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE), slide and size",
    "CUMULATE": (
        "CUMULATE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR), step and size"
    ),
    "SESSION": "SESSION(TABLE s PARTITION BY k, DESCRIPTOR(ts), INTERVAL '30' SECOND)",
}
BRACKET_FORMS: Final = {
    "TUMBLE": "[TUMBLE 1 MINUTE]",
    "HOP": "[HOP 5 MINUTES EVERY 1 MINUTE]",
    "CUMULATE": "[CUMULATE 1 HOUR EVERY 10 MINUTES]",
    "SESSION": "[SESSION 30 SECONDS BY k]",
}
_QUERY_TOKENS: Final = (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN)


class FixedWindow(StreamWindow):
    """TUMBLE, HOP or CUMULATE (``kind``): ``windows``, and their longest ``size`` in us; ``column``
    is the identifier of the event time, where it is written.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        **StreamWindow.arg_types,
        "windows": False,
        "column": False,
    }


class SessionWindow(StreamWindow):
    """SESSION: ``size`` is the gap in us, ``expressions`` are the identifiers of its keys, and
    ``column`` that of the event time, where it is written.
    """

    arg_types: ClassVar[dict[str, bool]] = {**StreamWindow.arg_types, "column": False}


class TimeWindowParser(WindowParser):
    """Adds windows between fixed instants to what FROM can contain."""

    def _parse_table(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        at = self._index
        in_table = (
            self._kind_at(at) == TokenType.TABLE and self._kind_at(at + 1) == TokenType.L_PAREN
        )
        name = at + 2 * in_table
        if self._kind_at(name + 1) != TokenType.L_PAREN:
            return super()._parse_table(*args, **kwargs)
        if self._tokens[name].text.upper() not in ARGUMENTS:
            return super()._parse_table(*args, **kwargs)
        self._advance(2 * in_table)
        item = self._window_function()
        if in_table and not self._match(TokenType.R_PAREN):
            raise self.fail(f"expected ) to end TABLE(...), {self.here()}")
        item.set("alias", self._parse_table_alias())
        if self._at_window():
            raise self.fail("a window function has its window already")
        return item

    def _window_function(self) -> exp.Expr:
        """``TUMBLE(input, time, size [, offset])``, or with ``NAME => argument``."""
        start = self._curr
        kind: Any = start.text.upper()
        self._advance(2)
        found: dict[str, Any] = {}
        keys: list[exp.Expr] = []
        while True:
            name = self._argument_name(kind, found)
            found[name] = self._argument(name)
            if name == "DATA" and kind == "SESSION":
                keys = self._partition()
            if not self._match(TokenType.COMMA):
                break
        missing = [n for n in ARGUMENTS[kind] if n not in found and n != "OFFSET"]
        if missing:
            what = f"{kind} lacks its argument {missing[0]}"
            raise self.fail(f"{what}: write {FUNCTION_FORMS[kind]}", start)
        if not self._match(TokenType.R_PAREN):
            raise self.fail(f"expected ) to end {kind}(...), {self.here()}")
        item: exp.Expr = found["DATA"]
        window: StreamWindow
        if kind == "SESSION":
            gap, at = found["GAP"]
            window = self._session(start, gap, at, keys or self._partition())
        else:
            step = found.get("SLIDE") or found.get("STEP")
            window = self._fixed(kind, start, found["SIZE"], step, found.get("OFFSET"))
        window.set("column", found["TIMECOL"])
        item.set("windowed", window)
        return item

    def _argument_name(self, kind: str, found: dict[str, Any]) -> str:
        names = ARGUMENTS[kind]
        at = self._curr
        if self._next.token_type == TokenType.FARROW:
            name = at.text.upper()
            if name not in names or name in found:
                raise self.fail(f"{kind} takes {', '.join(names)}, each once; {self.here()}", at)
            self._advance(2)
            return name
        if len(found) == len(names):
            raise self.fail(f"{kind} takes no more arguments: {FUNCTION_FORMS[kind]}", at)
        return names[len(found)]

    def _argument(self, name: str) -> Any:
        if name == "DATA":
            return self._window_input()
        if name == "TIMECOL":
            return self._time_column()
        at = self._curr
        return (self.duration() if name == "GAP" else self.length()), at

    def _window_input(self) -> exp.Expr:
        called = self._match(TokenType.TABLE)
        at = self._curr
        open_ = self._match(TokenType.L_PAREN, advance=False)
        if called and open_ and self._kind_at(self._index + 2) == TokenType.R_PAREN:  # TABLE(s)
            self._advance()
            item: exp.Expr = self._named_input(self._curr)
            self._match(TokenType.R_PAREN)
        elif self._match(TokenType.L_PAREN):
            if self._curr.token_type not in _QUERY_TOKENS:
                raise self.fail(f"expected a SELECT, {self.here()}")
            query = self._parse_statement()
            if not self._match(TokenType.R_PAREN):
                raise self.fail(f"expected ), {self.here()}")
            item = self.expression(exp.Subquery(this=query))
        else:
            item = self._named_input(at)
        item.update_positions(at)
        return item

    def _named_input(self, at: Token) -> exp.Expr:
        name = self._parse_id_var(any_token=False)
        if name is None:
            raise self.fail(f"expected the name of a stream, {self.here()}", at)
        table = self.expression(exp.Table(this=name))
        table.update_positions(at)
        return table

    def _time_column(self) -> exp.Expr:
        at = self._curr
        called = self._match_text_seq("DESCRIPTOR")
        if called and not self._match(TokenType.L_PAREN):
            raise self.fail(f"expected DESCRIPTOR(column), {self.here()}", at)
        name = self._parse_id_var(any_token=False)
        if name is None:
            raise self.fail(f"expected DESCRIPTOR(ts), the event time's column, {self.here()}")
        if called and not self._match(TokenType.R_PAREN):
            raise self.fail(f"expected one column in DESCRIPTOR(...), {self.here()}")
        return name

    def _window_body(self, start: Token) -> StreamWindow:
        kind: Any = self._curr.text.upper()
        if kind not in ARGUMENTS:
            return super()._window_body(start)
        self._advance()
        if kind == "SESSION":
            return self._session_body(start)
        at = self._curr
        size, step, offset = (self.length(), at), None, None
        if kind != "TUMBLE":
            if not self._match_text_seq("EVERY"):
                form = BRACKET_FORMS[kind]
                raise self.fail(f"expected EVERY and a duration, as in {form}; {self.here()}")
            at = self._curr
            step = self.length(), at
        if self._match_text_seq("OFFSET"):
            at = self._curr
            offset = self.length(), at
        return self._fixed(kind, start, size, step, offset)

    def _session_body(self, start: Token) -> SessionWindow:
        at = self._curr
        gap = self.duration()
        keys: list[exp.Expr] = []
        if self._match_text_seq("BY"):
            keys = self._parse_csv(lambda: self._parse_id_var(any_token=False))
            if not keys:
                raise self.fail(f"expected the columns of BY, {self.here()}")
        return self._session(start, gap, at, keys)

    def _partition(self) -> list[exp.Expr]:
        """``PARTITION BY k`` or ``PARTITION BY (k, l)``, if it is there."""
        if not self._match(TokenType.PARTITION_BY):
            return []
        several = self._match(TokenType.L_PAREN)
        name = partial(self._parse_id_var, any_token=False)
        keys: list[Any] = self._parse_csv(name) if several else [name()]
        if not keys or keys[0] is None:
            raise self.fail(f"expected the columns of PARTITION BY, {self.here()}")
        if several and not self._match(TokenType.R_PAREN):
            raise self.fail(f"expected ) behind the columns of PARTITION BY, {self.here()}")
        return keys

    def _session(self, start: Token, gap: int, at: Token, keys: list[exp.Expr]) -> SessionWindow:
        if gap <= 0:
            raise self.fail("the gap of SESSION must be longer than zero", at)
        window = SessionWindow(kind="SESSION", size=gap, expressions=keys)
        window.update_positions(start)
        return window

    def _fixed(
        self, kind: Kind, start: Token, size: _Length, step: _Length | None, offset: _Length | None
    ) -> FixedWindow:
        for length, at in filter(None, (size, step)):
            if not length.is_positive:
                raise self.fail(f"a length of {kind} must be longer than zero", at)
        try:
            lengths = (None if length is None else length[0] for length in (step, offset))
            windows = windows_of(kind, size[0], *lengths)
        except ValueError as e:
            raise self.fail(str(e), size[1]) from None
        window = FixedWindow(kind=kind, size=windows.size_us, windows=windows)
        window.update_positions(start)
        return window
