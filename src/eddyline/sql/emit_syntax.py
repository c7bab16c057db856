"""EMIT and ON OVERLOAD behind a SELECT."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from eddyline.algebra.catalog import Emit
from eddyline.errors import did_you_mean
from eddyline.sql.definitions import DefinitionParser
from eddyline.sql.nesting import check_depth


class EmitParser(DefinitionParser):
    """Parses what a query emits, and what it does under overload."""

    def _emit(self) -> Emit:
        if not self._match_text_seq("EMIT"):
            return Emit(stated=False)
        for mode in ("inserts", "changes", "final"):
            if self._match_text_seq(mode.upper()):
                return Emit(cast(Any, mode))
        if not self._match_text_seq("SNAPSHOT"):
            word = self._curr.text.upper()
            raise self.fail(
                "unknown EMIT mode; "
                + did_you_mean(word, ("INSERTS", "CHANGES", "FINAL", "SNAPSHOT EVERY 10 SECONDS"))
            )
        if not self._match_text_seq("EVERY"):
            raise self.fail(f"expected EVERY and a duration, {self.here()}")
        at, every = self._curr, self.duration()
        if every <= 0:
            raise self.fail("EVERY must be longer than zero", at)
        offset = self.duration() if self._match_text_seq("OFFSET") else 0
        return Emit("snapshot", every, offset_us=offset % every)

    def _overload(self) -> tuple[bool, tuple[exp.Expr, ...]]:
        """Whether ``ON OVERLOAD SHED`` follows, and the expressions of its BY."""
        if not self.at_overload():
            return False, ()
        self._advance(2)
        if not self._match_text_seq("SHED"):
            word = self._curr.text.upper()
            raise self.fail(f"unknown ON OVERLOAD action; {did_you_mean(word, ('SHED',))}")
        if not self._match_text_seq("BY"):
            return True, ()
        return True, tuple(self._utility() for _ in self._commas())

    def _commas(self) -> Iterator[None]:
        """Once, and after each comma that follows."""
        yield
        while self._match(TokenType.COMMA):
            yield

    def _utility(self) -> exp.Expr:
        at = self._curr
        node = self._parse_disjunction()
        if node is None:
            raise self.fail(
                f"expected a column or an expression after SHED BY, {self.here(at)}", at
            )
        check_depth(node, self.source)
        return node
