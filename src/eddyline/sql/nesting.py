"""Checks of the nesting depth of a text: parser and binder recurse once per level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from eddyline.sql.limits import MAX_DEPTH, MAX_NESTING, MAX_OPEN_JOINS
from eddyline.sql.source import SourceText

_BRACKETS: Final = {
    TokenType.L_PAREN: TokenType.R_PAREN,
    TokenType.L_BRACKET: TokenType.R_BRACKET,
    TokenType.L_BRACE: TokenType.R_BRACE,
}
_CLOSING: Final = frozenset(_BRACKETS.values())
#: Prefix operators and keywords: each adds a level.
_PREFIXES: Final = frozenset(
    {
        *(TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE, TokenType.PIPE_SLASH),
        *(TokenType.DPIPE_SLASH, TokenType.INTERVAL, TokenType.EXISTS, TokenType.DISTINCT),
    }
)
_NESTED_TYPES: Final = frozenset({TokenType.ARRAY, TokenType.STRUCT, TokenType.MAP})
#: Chains of these are read without recursion, although the tree nests them.
_FLAT: Final = (exp.And, exp.Or, exp.DPipe, exp.SetOperation, exp.Paren)


def check_nesting(tokens: Sequence[Token], source: SourceText) -> None:
    """Check how deeply the statements of a text are nested.

    Raises:
        SqlError: too deep; positioned at the first word beyond the limit.
    """
    levels, joins = _Levels(), 0
    for before, token, following in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        kind = token.token_type
        if kind == TokenType.SEMICOLON:
            levels, joins = _Levels(), 0
        levels.add(kind, _kind(before), _kind(following))
        if kind == TokenType.JOIN and _kind(before) != TokenType.CROSS:
            joins += 1
        elif kind in (TokenType.ON, TokenType.USING) and joins:
            joins -= 1
        if levels.depth > MAX_NESTING:
            raise source.error(
                token,
                f"this is nested more than {MAX_NESTING} levels deep: remove redundant "
                "parentheses, or move parts to WITH entries or views",
            )
        if joins > MAX_OPEN_JOINS:
            raise source.error(
                token,
                f"more than {MAX_OPEN_JOINS} joins have no ON before this one: write ON, USING or "
                "CROSS JOIN",
            )


def _kind(token: Token | None) -> TokenType | None:
    return token.token_type if token else None


class _Levels:
    """The brackets and prefixes that are open behind the tokens so far; ``depth``: their number."""

    def __init__(self) -> None:
        self._open: list[tuple[TokenType, int]] = []  # closing token, number of levels
        self._prefixes = 0
        self.depth = 0

    def add(self, kind: TokenType, before: TokenType | None, following: TokenType | None) -> None:
        """Add one token, given its neighbours."""
        if kind in _BRACKETS:
            self._begin(_BRACKETS[kind])
        elif kind == TokenType.CASE:
            self._begin(TokenType.END)
        elif kind == TokenType.LT and before in _NESTED_TYPES:
            self._begin(TokenType.GT)
        elif kind in _CLOSING or (self._open and self._open[-1][0] == kind):
            counted = self._end(kind)
            if kind == TokenType.R_BRACKET and following == TokenType.L_BRACKET:
                self._add_prefixes(counted)  # a[1][2]... is also parsed by recursion
        elif kind in _PREFIXES:
            self._add_prefixes(1)
        elif following not in _BRACKETS:  # else it is a function's name, as in NOT f(NOT f(...
            self._drop_prefixes()

    def _begin(self, end: TokenType) -> None:
        self._open.append((end, 1 + self._prefixes))
        self._prefixes = 0
        self.depth += 1

    def _end(self, kind: TokenType) -> int:
        """Close the innermost level of a kind, and the unclosed levels in it."""
        self._drop_prefixes()
        counted = 0
        while self._open:
            end, counted = self._open.pop()
            self.depth -= counted
            if end == kind:
                break
        return counted

    def _add_prefixes(self, number: int) -> None:
        self._prefixes += number
        self.depth += number

    def _drop_prefixes(self) -> None:
        self.depth -= self._prefixes
        self._prefixes = 0


def check_depth(ast: exp.Expr, source: SourceText) -> None:
    """Check the depth of a syntax tree.

    Raises:
        SqlError: too deep; positioned at a node beyond the limit.
    """
    level = [ast]
    for _ in range(MAX_DEPTH):
        level = [below for node in level for below in _below(node)]
        if not level:
            return
    raise source.error(
        level[0],
        f"more than {MAX_DEPTH} operators are chained here: put parts of them in "
        "parentheses, as in (a + b + ...) + (c + d + ...), or compute them in a sub-query",
    )


def _below(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a node; nested nodes of a flat kind count as one node."""
    found: list[exp.Expr] = []
    waiting = list(node.iter_expressions())
    while waiting:
        below = waiting.pop()
        if isinstance(below, _FLAT):
            waiting += below.iter_expressions()
        else:
            found.append(below)
    return found
