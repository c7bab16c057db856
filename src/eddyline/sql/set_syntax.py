"""The syntax of set operations: UNION, INTERSECT and EXCEPT (or MINUS), EXCEPT ALL ON (a, b)."""

from __future__ import annotations

from typing import Any, Final

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from eddyline.sql.unnest_syntax import UnnestParser

_OPERATIONS: Final[dict[TokenType, type[exp.SetOperation]]] = {
    TokenType.UNION: exp.Union,
    TokenType.INTERSECT: exp.Intersect,
    TokenType.EXCEPT: exp.Except,
}


class SetOperationParser(UnnestParser):
    """Parses the set operation behind a SELECT; sqlglot gives INTERSECT the higher precedence."""

    def parse_set_operation(
        self, this: exp.Expr | None, consume_pipe: bool = False, intersect_only: bool = False
    ) -> exp.SetOperation | None:
        """The set operation with ``this`` as its left operand; None if none follows."""
        operation = _OPERATIONS.get(self._curr.token_type)
        if operation is None or (intersect_only and operation is not exp.Intersect):
            return None
        self._advance()
        distinct = not self._match(TokenType.ALL)
        if distinct:
            self._match(TokenType.DISTINCT)
        if self._match_text_seq("BY", "NAME", advance=False):
            self.refuse("BY NAME", "columns are matched by position")
        on = self._columns_of_on(operation is exp.Except and not distinct)
        behind = self._prev.text
        right = self._parse_select(
            nested=True, parse_set_operation=False, consume_pipe=consume_pipe
        )
        if right is None:
            raise self.fail(f"expected a SELECT behind '{behind}', {self.here()}")
        return self.expression(operation(this=this, distinct=distinct, expression=right, on=on))

    def _columns_of_on(self, allowed: bool) -> Any:
        """The identifiers of ``ON (a, b)``; None without ON."""
        at = self._curr
        if not self._match(TokenType.ON):
            return None
        if not allowed:
            raise self.fail("ON (columns) is allowed behind EXCEPT ALL only", at)
        if not self._match(TokenType.L_PAREN):
            raise self.fail(f"expected ( and the columns of EXCEPT ALL ON, {self.here()}")
        columns = self._parse_csv(lambda: self._parse_id_var(any_token=False))
        if not columns:
            raise self.fail(f"expected the columns of EXCEPT ALL ON, {self.here()}")
        if not self._match(TokenType.R_PAREN):
            raise self.fail(f"expected , or ) behind a column of ON, {self.here()}")
        return columns
