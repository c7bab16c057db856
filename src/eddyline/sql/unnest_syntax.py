"""The syntax of lists in FROM: ``UNNEST(list) [WITH ORDINALITY] AS t (x)``, ``explode(list)``,
Spark's ``LATERAL VIEW [OUTER] explode(list) t AS x``, and ``VALUES (1, 'a'), (2, 'b')``.
"""

from __future__ import annotations

from typing import ClassVar, Final

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from eddyline.sql.group_window_syntax import GroupWindowParser

#: What stands for a call of a function that returns a list of rows.
TABLE_FUNCTION: Final = "TABLE"
FUNCTIONS: Final = ("UNNEST", "EXPLODE", "EXPLODE_OUTER", "INLINE", "INLINE_OUTER")


class Unnesting(exp.Expression):
    """A list in FROM: ``this`` is the list, ``function`` one of FUNCTIONS, or TABLE_FUNCTION; or
    VALUES, of which ``this`` is the tuple of its rows, each a tuple.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "function": True,
        "alias": False,
        "numbered": False,
        "outer": False,
        "joins": False,
    }

    @property
    def is_outer(self) -> bool:
        """Whether a row without elements has one that is NULL."""
        return bool(self.args.get("outer")) or self.args["function"].endswith("OUTER")


class UnnestParser(GroupWindowParser):
    """Adds lists to what FROM can contain."""

    def _parse_table(self, *args: object, **kwargs: object) -> exp.Expr | None:
        at_lateral = self._curr.token_type == TokenType.LATERAL
        if at_lateral and self._at_unnesting(self._index + 1):
            self._advance()
        elif at_lateral and (call := self._at_table_function(self._index + 1)):
            self._advance(call - self._index)
            unnesting = self._parse_table_function()
            unnesting.set("alias", self._parse_table_alias())
            return unnesting
        elif at_lateral and self._kind_at(self._index + 1) == TokenType.L_PAREN:
            self._advance()
            table = super()._parse_table(*args, **kwargs)
            if isinstance(table, exp.Subquery):
                table.set("lateral", True)
            return table
        if self._at_values():
            return self._parse_values()
        if self._at_unnesting(self._index):
            unnesting = self._parse_unnesting()
            unnesting.set("numbered", self._match_text_seq("WITH", "ORDINALITY"))
            unnesting.set("alias", self._parse_table_alias())
            return unnesting
        return super()._parse_table(*args, **kwargs)

    def _parse_lateral(self) -> exp.Expr | None:  # type: ignore[override]  # not sqlglot's node
        start = self._curr
        if not self._match_text_seq("LATERAL", "VIEW"):
            if start.token_type == TokenType.LATERAL:
                advice = "write a join, EXISTS in WHERE, or UNNEST(list) AS t (x)"
                self.refuse("LATERAL", advice, start)
            return None
        outer = self._match_text_seq("OUTER")
        if self._at_unnesting(self._index):
            unnesting = self._parse_unnesting()
        elif self._at_table_function(self._index):
            unnesting = self._parse_table_function()
        else:
            raise self.fail(f"expected explode(list) behind LATERAL VIEW, {self.here()}")
        unnesting.set("outer", outer)
        name = self._parse_id_var(any_token=False)
        columns = self._parse_csv(self._parse_id_var) if self._match(TokenType.ALIAS) else []
        unnesting.set("alias", exp.TableAlias(this=name, columns=columns))
        return unnesting

    def _at_values(self) -> bool:
        """Whether VALUES follows, in parentheses or not."""
        inside = self._curr.token_type == TokenType.L_PAREN
        return self._kind_at(self._index + inside) == TokenType.VALUES

    def _parse_values(self) -> Unnesting:
        inside = self._match(TokenType.L_PAREN)
        word = self._curr
        self._advance()
        rows = self._parse_csv(self._values_row)
        if not rows or rows[0] is None:
            raise self.fail(f"expected a row, as in VALUES (1, 'a'), {self.here()}")
        if inside and not self._match(TokenType.R_PAREN):
            raise self.fail(f"expected ) behind the rows of VALUES, {self.here()}")
        table = self.expression(Unnesting(this=exp.Tuple(expressions=rows), function="VALUES"))
        table.update_positions(word)
        table.set("alias", self._parse_table_alias())
        return table

    def _values_row(self) -> exp.Expr | None:
        """A row of VALUES; the parentheses of one column can be left out."""
        start = self._curr
        if not self._match(TokenType.L_PAREN):
            single = self._parse_disjunction()
            return None if single is None else exp.Tuple(expressions=[single])
        row = self.expression(exp.Tuple(expressions=self._parse_csv(self._parse_disjunction)))
        row.update_positions(start)
        if not row.expressions or not self._match(TokenType.R_PAREN):
            raise self.fail(f"expected the values of a row and ), {self.here()}")
        return row

    def _at_unnesting(self, index: int) -> bool:
        is_name = index < len(self._tokens) and self._tokens[index].text.upper() in FUNCTIONS
        return is_name and self._kind_at(index + 1) == TokenType.L_PAREN

    def _at_table_function(self, index: int) -> int | None:
        """Where a call begins, ``f(...)`` or ``TABLE(f(...))``; None if none is there."""
        is_table = self._kind_at(index) == TokenType.TABLE
        index += 2 * is_table
        called = self._kind_at(index + 1) == TokenType.L_PAREN
        is_name = index < len(self._tokens) and self._tokens[index].text.isidentifier()
        return index if called and is_name else None

    def _parse_table_function(self) -> Unnesting:
        start, inside = self._curr, self._tokens[self._index - 2].token_type == TokenType.TABLE
        call = self._parse_unary()
        if call is None or (inside and not self._match(TokenType.R_PAREN)):
            raise self.fail(f"expected a call of a function, {self.here()}")
        unnesting = self.expression(Unnesting(this=call, function=TABLE_FUNCTION))
        unnesting.update_positions(start)
        return unnesting

    def _parse_unnesting(self) -> Unnesting:
        word = self._curr
        self._advance(2)
        listed = self._parse_disjunction()
        if listed is None or not self._match(TokenType.R_PAREN):
            raise self.fail(f"expected one list in {word.text}(...), {self.here()}")
        unnesting = self.expression(Unnesting(this=listed, function=word.text.upper()))
        unnesting.update_positions(word)
        return unnesting
