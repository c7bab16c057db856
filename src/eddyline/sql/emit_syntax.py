"""EMIT and ON OVERLOAD behind a SELECT."""

from __future__ import annotations

from typing import Any, cast

from eddyline.algebra.catalog import Emit
from eddyline.errors import did_you_mean
from eddyline.sql.definitions import DefinitionParser


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

    def _sheds(self) -> bool:
        """Whether ``ON OVERLOAD SHED`` follows."""
        if not self.at_overload():
            return False
        self._advance(2)
        if not self._match_text_seq("SHED"):
            word = self._curr.text.upper()
            raise self.fail(f"unknown ON OVERLOAD action; {did_you_mean(word, ('SHED',))}")
        return True
