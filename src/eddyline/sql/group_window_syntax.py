"""The syntax of windows in GROUP BY: Spark's ``window(ts, '10 minutes', '5 minutes')`` and
``session_window(ts, '30 seconds')``, Flink's older ``TUMBLE(ts, INTERVAL '1' MINUTE)``, and the
functions that name their columns.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Literal, NamedTuple

from sqlglot import exp
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import TokenType

from eddyline.sql.time_window_syntax import TimeWindowParser


class GroupCall(NamedTuple):
    """A function of a window in GROUP BY.

    Attributes:
        kind: of windows. form: how it is written.
        part: what it is of the window: a structure of both ends, or one of them.
    """

    kind: Literal["WINDOW", "TUMBLE", "HOP", "SESSION"]
    form: str
    part: Literal["both", "start", "end"] = "both"


_WINDOW: Final = "window(ts, '10 minutes'[, '5 minutes'[, '1 minute']]), size, slide and start"
_TUMBLE: Final = "TUMBLE(ts, INTERVAL '1' MINUTE)"
_HOP: Final = "HOP(ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE), slide and size"
_SESSION: Final = "SESSION(ts, INTERVAL '30' SECOND)"

#: By lower-case name.
GROUP_CALLS: Final = {
    "window": GroupCall("WINDOW", _WINDOW),
    "tumble": GroupCall("TUMBLE", _TUMBLE),
    "tumble_start": GroupCall("TUMBLE", _TUMBLE, "start"),
    "tumble_end": GroupCall("TUMBLE", _TUMBLE, "end"),
    "hop": GroupCall("HOP", _HOP),
    "hop_start": GroupCall("HOP", _HOP, "start"),
    "hop_end": GroupCall("HOP", _HOP, "end"),
    "session_window": GroupCall("SESSION", "session_window(ts, '30 seconds')"),
    "session": GroupCall("SESSION", _SESSION),
    "session_start": GroupCall("SESSION", _SESSION, "start"),
    "session_end": GroupCall("SESSION", _SESSION, "end"),
}


def group_call(node: exp.Expr | None) -> GroupCall | None:
    """The function of a window that a node calls; None if it does not."""
    return GROUP_CALLS.get(node.name.lower()) if isinstance(node, exp.Anonymous) else None


class GroupWindowParser(TimeWindowParser):
    """Lets GROUP BY begin with ``window(...)``, and windows in it have an alias."""

    FUNC_TOKENS: ClassVar[set[TokenType]] = {*SparkParser.FUNC_TOKENS, TokenType.SESSION}

    def _parse_group(self, skip_group_by_token: bool = False) -> exp.Group | None:
        at_group = self._match(TokenType.GROUP_BY, advance=False)
        if skip_group_by_token or not at_group or not self._has_window(self._index + 1):
            return super()._parse_group(skip_group_by_token)
        self._advance()
        return self.expression(exp.Group(expressions=self._parse_csv(self._group_item)))

    def _has_window(self, index: int) -> bool:
        """Whether a window follows somewhere: ``window(`` there is no WINDOW clause."""
        for i in range(index, len(self._tokens) - 1):
            if self._tokens[i].token_type == TokenType.SEMICOLON:
                return False
            called = self._kind_at(i + 1) == TokenType.L_PAREN
            if called and self._tokens[i].text.lower() in GROUP_CALLS:
                return True
        return False

    def _group_item(self) -> exp.Expr | None:
        sets = self._parse_grouping_sets() or self._parse_cube_or_rollup()
        if sets is not None:
            return sets
        item = self._parse_disjunction()
        if group_call(item) is None or not self._match(TokenType.ALIAS):
            return item
        name: Any = self._parse_id_var(any_token=False)
        if name is None:
            raise self.fail(f"expected a name behind AS, {self.here()}")
        alias = self.expression(exp.Alias(this=item, alias=name))
        alias.meta.update(name.meta)
        return alias
