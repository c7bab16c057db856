"""The syntax of lists in FROM: ``UNNEST(list) [WITH ORDINALITY] AS t (x)``, ``explode(list)``, and
Spark's ``LATERAL VIEW [OUTER] explode(list) t AS x``.
"""

from __future__ import annotations

from typing import ClassVar, Final

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from eddyline.sql.group_window_syntax import GroupWindowParser

FUNCTIONS: Final = ("UNNEST", "EXPLODE", "EXPLODE_OUTER", "INLINE", "INLINE_OUTER")


class Unnesting(exp.Expression):
    """A list in FROM: ``this`` is the list, ``function`` one of FUNCTIONS."""

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
        elif at_lateral and self._kind_at(self._index + 1) == TokenType.L_PAREN:
            self._advance()
            table = super()._parse_table(*args, **kwargs)
            if isinstance(table, exp.Subquery):
                table.set("lateral", True)
            return table
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
        if not self._at_unnesting(self._index):
            raise self.fail(f"expected explode(list) behind LATERAL VIEW, {self.here()}")
        unnesting = self._parse_unnesting()
        unnesting.set("outer", outer)
        name = self._parse_id_var(any_token=False)
        columns = self._parse_csv(self._parse_id_var) if self._match(TokenType.ALIAS) else []
        unnesting.set("alias", exp.TableAlias(this=name, columns=columns))
        return unnesting

    def _at_unnesting(self, index: int) -> bool:
        is_name = index < len(self._tokens) and self._tokens[index].text.upper() in FUNCTIONS
        return is_name and self._kind_at(index + 1) == TokenType.L_PAREN

    def _parse_unnesting(self) -> Unnesting:
        word = self._curr
        self._advance(2)
        listed = self._parse_disjunction()
        if listed is None or not self._match(TokenType.R_PAREN):
            raise self.fail(f"expected one list in {word.text}(...), {self.here()}")
        unnesting = self.expression(Unnesting(this=listed, function=word.text.upper()))
        unnesting.update_positions(word)
        return unnesting
