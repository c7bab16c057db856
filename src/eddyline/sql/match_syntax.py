"""The syntax of MATCH_RECOGNIZE, behind a FROM item, whose argument ``match`` it becomes.

::

    s MATCH_RECOGNIZE (
      PARTITION BY k ORDER BY ts
      MEASURES A.x AS first_x, LAST(B.x) AS last_x
      ONE ROW PER MATCH
      AFTER MATCH SKIP PAST LAST ROW
      PATTERN (A B+ C?) WITHIN INTERVAL 1 HOUR
      SUBSET U = (A, B)
      DEFINE B AS B.x > PREV(B.x)
    ) AS m
"""

from __future__ import annotations

from itertools import permutations
from math import factorial
from typing import Any, ClassVar, Final

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from eddyline.algebra.row_patterns import (
    MAX_PROGRAM,
    Alternatives,
    Repeated,
    RowPattern,
    Sequenced,
    Variable,
    size_of,
)
from eddyline.sql.numbers import whole_number
from eddyline.sql.set_syntax import SetOperationParser

#: Most repetitions that a quantifier can count.
MAX_COUNT: Final = 1000
_SKIPS: Final = (
    "PAST LAST ROW, TO NEXT ROW, TO FIRST variable, TO LAST variable (or TO variable, the last)"
)
_QUANTIFIERS: Final = "*, +, ?, {n}, {n,}, {n,m}, {,m}, each also with ? behind it"
_ONLY: Final = "PATTERN has variables, quantifiers, | and parentheses"
_REFUSED: Final = {
    TokenType.CARET: ("^ behind the start of PATTERN", "write PATTERN (^ ...) or (^ (A | B))"),
    TokenType.PARAMETER: (
        "$ in PATTERN",
        "a stream has no last row; the last one before a pause is last(x) of FROM s [SESSION 30 "
        "SECONDS BY k] GROUP BY k, window_start, window_end",
    ),
    TokenType.L_BRACE: ("{- in PATTERN", "leave rows out with WHERE on CLASSIFIER() AS name"),
}


class MatchedRows(exp.Expression):
    """MATCH_RECOGNIZE.

    ``partition``: columns; ``order``: what ORDER BY has; ``measures``: aliases; ``all_rows``;
    ``skip``: the word of where to, ``skip_to``: a variable's identifier; ``pattern``: over numbers
    of ``variables``, their identifiers in order; ``from_start``: whether it begins with ``^``;
    ``within`` in us; ``subsets`` and ``define``: aliases; of a subset, ``this`` is a tuple of
    identifiers. ``alias``: of the matches.
    """

    arg_types: ClassVar[dict[str, bool]] = dict.fromkeys(
        (
            *("partition", "order", "measures", "all_rows", "skip", "skip_to", "pattern"),
            *("from_start", "variables", "within", "subsets", "define", "alias"),
        ),
        False,
    )


class MatchParser(SetOperationParser):
    """Adds MATCH_RECOGNIZE to what FROM can contain."""

    _variables: list[exp.Expr] | None = None

    def _parse_table(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        item = super()._parse_table(*args, **kwargs)
        if item is None or not self.at_match():
            return item
        item.set("match", self._matched_rows())
        if self.at_match():
            message = "write FROM (SELECT * FROM s MATCH_RECOGNIZE (...)) MATCH_RECOGNIZE (...)"
            raise self.fail(f"one MATCH_RECOGNIZE follows another: {message}")
        return item

    def at_match(self) -> bool:
        """Whether MATCH_RECOGNIZE starts here; as an alias it needs backticks."""
        return self._match_text_seq("MATCH_RECOGNIZE", advance=False) is True

    def _matched_rows(self) -> MatchedRows:
        start = self._curr
        self._advance()
        self._wanted(TokenType.L_PAREN, "( behind MATCH_RECOGNIZE")
        node = MatchedRows()
        node.update_positions(start)
        if self._match(TokenType.PARTITION_BY):
            node.set("partition", self._listed(self._parse_column, "PARTITION BY"))
        if self._match(TokenType.ORDER_BY):
            node.set("order", self._listed(self._parse_ordered, "ORDER BY"))
        if self._match_text_seq("MEASURES"):
            node.set("measures", self._listed(self._measure, "MEASURES"))
        node.set("all_rows", self._rows_per_match())
        self._parse_skip(node)
        self._parse_pattern(node)
        if self._match_text_seq("WITHIN"):
            at = self._curr
            node.set("within", self.duration())
            if node.args["within"] <= 0:
                raise self.fail("WITHIN must be longer than zero", at)
        if self._match_text_seq("SUBSET"):
            node.set("subsets", self._listed(self._subset, "SUBSET"))
        if self._match_text_seq("DEFINE"):
            node.set("define", self._listed(self._definition, "DEFINE"))
        self._wanted(TokenType.R_PAREN, "the next clause of MATCH_RECOGNIZE, or ) to end it")
        node.set("alias", self._parse_table_alias())
        return node

    def _listed(self, parse: Any, clause: str) -> list[Any]:
        items: list[Any] = self._parse_csv(parse)
        if not items or items[0] is None:
            raise self.fail(f"expected an item behind {clause}, {self.here()}")
        return items

    def _wanted(self, token: TokenType, what: str) -> None:
        if not self._match(token):
            raise self.fail(f"expected {what}, {self.here()}")

    def _measure(self) -> exp.Expr | None:
        this = self._parse_disjunction()
        if this is None:
            return None
        named = self._match(TokenType.ALIAS)
        name = self._parse_id_var(any_token=False) if named else None
        if name is None:
            raise self.fail(f"expected AS and the name of the measure, {self.here()}")
        return self.expression(exp.Alias(this=this, alias=name))

    def _rows_per_match(self) -> bool:
        if self._match_text_seq("ONE", "ROW", "PER", "MATCH"):
            return False
        if not self._match_text_seq("ALL", "ROWS", "PER", "MATCH"):
            return False
        if self._match_text_seq("WITH", "UNMATCHED", "ROWS", advance=False):
            self.refuse("WITH UNMATCHED ROWS", "a row may still become a part of a match")
        for word in ("SHOW", "OMIT"):  # no match is empty
            self._match_text_seq(word, "EMPTY", "MATCHES")
        return True

    def _parse_skip(self, node: MatchedRows) -> None:
        if not self._match_text_seq("AFTER", "MATCH"):
            return
        at = self._curr
        if self._match_text_seq("SKIP", "PAST", "LAST", "ROW"):
            node.set("skip", "past last")
        elif self._match_text_seq("SKIP", "TO", "NEXT", "ROW"):
            node.set("skip", "next")
        elif self._match_text_seq("SKIP", "TO"):
            node.set("skip", "first" if self._match_text_seq("FIRST") else "last")
            self._match_text_seq("LAST")
            name = self._parse_id_var(any_token=False)
            if name is None:
                raise self.fail(f"expected a variable of PATTERN, {self.here()}")
            node.set("skip_to", name)
        else:
            raise self.fail(f"expected SKIP and {_SKIPS}, {self.here(at)}", at)

    def _subset(self) -> exp.Expr | None:
        name = self._parse_id_var(any_token=False)
        if name is None:
            return None
        self._wanted(TokenType.EQ, "= and variables, as in SUBSET U = (A, B)")
        self._wanted(TokenType.L_PAREN, "( and variables, as in SUBSET U = (A, B)")
        parts = self._listed(lambda: self._parse_id_var(any_token=False), "SUBSET")
        self._wanted(TokenType.R_PAREN, ", or ) behind a variable of SUBSET")
        return self.expression(exp.Alias(this=exp.Tuple(expressions=parts), alias=name))

    def _definition(self) -> exp.Expr | None:
        name = self._parse_id_var(any_token=False)
        if name is None:
            return None
        self._wanted(TokenType.ALIAS, f"AS and the condition of {name.name}")
        condition = self._parse_disjunction()
        if condition is None:
            raise self.fail(f"expected the condition of {name.name}, {self.here()}")
        return self.expression(exp.Alias(this=condition, alias=name))

    def _parse_unary(self) -> exp.Expr | None:
        """``FINAL LAST(A.x)`` and ``RUNNING LAST(A.x)`` are calls with a call in them."""
        word = self._curr
        called = self._kind_at(self._index + 2) == TokenType.L_PAREN
        if word.text.upper() not in ("FINAL", "RUNNING") or not called:
            return super()._parse_unary()
        if self._next.token_type == TokenType.L_PAREN:
            return super()._parse_unary()
        self._advance()
        call = self.expression(exp.Anonymous(this=word.text, expressions=[self._parse_unary()]))
        call.update_positions(word)
        return call

    # -- PATTERN -------------------------------------------------------

    def _parse_pattern(self, node: MatchedRows) -> None:
        if not self._match_text_seq("PATTERN"):
            raise self.fail(f"expected PATTERN and a pattern in parentheses, {self.here()}")
        self._wanted(TokenType.L_PAREN, "( and a pattern")
        self._variables = []
        at = self._curr
        from_start = self._match(TokenType.CARET)
        pattern = self._sequence() if from_start else self._alternatives()
        if from_start and self._match(TokenType.PIPE, advance=False):
            raise self.fail("^ is for one alternative here: write ^ (A | B)", at)
        node.set("from_start", from_start)
        self._wanted(TokenType.R_PAREN, "a variable, or ) to end PATTERN")
        node.set("pattern", pattern)
        node.set("variables", self._variables)

    def _alternatives(self) -> RowPattern:
        parts = [self._sequence()]
        while self._match(TokenType.PIPE):
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Alternatives(tuple(parts))

    def _sequence(self) -> RowPattern:
        parts: list[RowPattern] = []
        while not self._match_set(
            (TokenType.PIPE, TokenType.R_PAREN, TokenType.COMMA), advance=False
        ):
            if not self._curr:
                break
            parts.append(self._quantified())
        if not parts:
            raise self.fail(f"expected a variable of PATTERN, {self.here()}")
        return parts[0] if len(parts) == 1 else Sequenced(tuple(parts))

    def _quantified(self) -> RowPattern:
        part = self._primary_pattern()
        at = self._curr
        counts = self._counts()
        if counts is None:
            return part
        greedy = not self._match(TokenType.PLACEHOLDER)
        if at.token_type == TokenType.DQMARK:
            greedy = False
        least, most = counts
        if most is not None and (most < least or most == 0):
            raise self.fail("the second number of a quantifier is less than the first, or zero", at)
        return Repeated(part, least, most, greedy)

    def _primary_pattern(self) -> RowPattern:
        at = self._curr
        if self._match(TokenType.L_PAREN):
            inner = self._alternatives()
            self._wanted(TokenType.R_PAREN, ") in PATTERN")
            return inner
        if at.token_type in _REFUSED:
            self.refuse(*_REFUSED[at.token_type])
        if at.text.upper() == "PERMUTE" and self._next.token_type == TokenType.L_PAREN:
            return self._permuted(at)
        name: Any = self._parse_id_var(any_token=False)
        if name is None:
            raise self.fail(f"{_ONLY}, {self.here()}", at)
        known = self._variables
        assert known is not None, "inside of PATTERN"
        names = [v.name.lower() for v in known]
        if name.name.lower() not in names:
            names.append(name.name.lower())
            known.append(name)
        return Variable(names.index(name.name.lower()))

    def _permuted(self, at: Token) -> RowPattern:
        """``PERMUTE(A, B)``: all orders of its parts as alternatives, as (A B | B A)."""
        self._advance()
        self._advance()
        parts = [self._alternatives()]
        while self._match(TokenType.COMMA):
            parts.append(self._alternatives())
        self._wanted(TokenType.R_PAREN, ", and a pattern, or ) to end PERMUTE")
        if factorial(len(parts)) * sum(map(size_of, parts)) >= MAX_PROGRAM:
            raise self.fail(f"PERMUTE has more than {MAX_PROGRAM} steps, n! for n patterns", at)
        if len(parts) == 1:
            return parts[0]
        return Alternatives(tuple(map(Sequenced, permutations(parts))))

    def _counts(self) -> tuple[int, int | None] | None:
        """The least and the most number of times; None without a quantifier."""
        if self._match(TokenType.STAR):
            return 0, None
        if self._match(TokenType.PLUS):
            return 1, None
        if self._match_set((TokenType.PLACEHOLDER, TokenType.DQMARK)):
            return 0, 1
        braces = self._match(TokenType.L_BRACE, advance=False)
        if not braces or self._next.token_type == TokenType.DASH:
            return None
        self._advance()
        least = self._count()
        most = least
        if self._match(TokenType.COMMA):
            most = self._count()
        elif least is None:
            raise self.fail(f"quantifiers are {_QUANTIFIERS}; {self.here()}")
        self._wanted(TokenType.R_BRACE, "} to end the quantifier")
        return least or 0, most

    def _count(self) -> int | None:
        at: Token = self._curr
        if not self._match(TokenType.NUMBER):
            return None
        count = whole_number(at.text, MAX_COUNT + 1)
        if count is None:
            raise self.fail(f"a quantifier counts to {MAX_COUNT} at most, {self.here(at)}", at)
        return count
