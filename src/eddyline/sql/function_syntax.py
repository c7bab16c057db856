"""CREATE FUNCTION: a body of SQL, or Python by its module and name or as a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

import pyarrow as pa
from sqlglot.tokenizer_core import TokenType

from eddyline.algebra.functions import FunctionKind
from eddyline.errors import did_you_mean
from eddyline.sql.definitions import ColumnClauses, DefinitionParser
from eddyline.sql.nesting import check_depth
from eddyline.sql.statements import CreateFunction, PythonCode, Statement
from eddyline.types import Schema

_KINDS: Final = ("arrow", "pandas", "python")


class FunctionParser(DefinitionParser):
    """Parses CREATE FUNCTION."""

    def _create_function(self) -> Callable[[str, int, int], Statement]:
        aggregate = self._match_text_seq("AGGREGATE")
        self._match_text_seq("FUNCTION")
        at, name = self._curr, self._name("function")
        parameters: Schema = ()
        if self._next and self._match_pair(TokenType.L_PAREN, TokenType.R_PAREN, advance=False):
            self._advance(2)
        else:
            parameters = self._columns(ColumnClauses())
        if not self._match_text_seq("RETURNS"):
            raise self.fail(f"expected RETURNS and the type of the result, {self.here()}")
        result = self._table_type() if self._match(TokenType.TABLE) else self._type()
        language = "SQL"
        if self._match_text_seq("LANGUAGE"):
            language = self._curr.text.upper()
            if language not in ("PYTHON", "SQL"):
                hint = did_you_mean(language, ("PYTHON", "SQL"))
                raise self.fail(f"unknown language; {hint}")
            self._advance()
        if language == "PYTHON":
            code = self._code(aggregate)
            return lambda text, line, column: CreateFunction(
                text, line, column, name, parameters, result, self.source, at.start, code=code
            )
        if aggregate:
            message = "AGGREGATE is for functions in Python: leave it out, the body has aggregates"
            raise self.fail(message, at)
        if not (self._match_text_seq("RETURN") or self._match(TokenType.ALIAS)):
            raise self.fail(f"expected AS and an expression, {self.here()}")
        if self._match(TokenType.HEREDOC_STRING, advance=False):
            raise self.fail("a body in Python needs LANGUAGE PYTHON in front of AS")
        body = self._parse_disjunction()
        if body is None:
            raise self.fail(f"expected an expression, {self.here()}")
        check_depth(body, self.source)
        return lambda text, line, column: CreateFunction(
            text, line, column, name, parameters, result, self.source, at.start, body=body
        )

    def _table_type(self) -> pa.DataType:
        """The type of the rows of ``RETURNS TABLE (name type, ...)``: a list of structures."""
        fields = self._columns(ColumnClauses())
        return pa.list_(pa.struct([pa.field(f.name, f.type) for f in fields]))

    def _code(self, aggregate: bool) -> PythonCode:
        if not self._match(TokenType.ALIAS):
            raise self.fail(f"expected AS 'module.name' or AS $$ ... $$, {self.here()}")
        at = self._curr
        if not self._match_set((TokenType.STRING, TokenType.HEREDOC_STRING)):
            raise self.fail(f"expected 'module.name' or $$ ... $$, {self.here()}")
        is_body = at.token_type == TokenType.HEREDOC_STRING
        kind: FunctionKind = "aggregate" if aggregate else "arrow"
        options = self._placed_options()
        for option, (value, at_value, at_name) in options.items():
            if option != "kind" or aggregate:
                valid = "it has none" if aggregate else did_you_mean(option, ("kind",))
                raise self.fail(f"unknown option '{option}' of a function; {valid}", at_name)
            if value not in _KINDS:
                raise self.fail(f"unknown kind '{value}'; {did_you_mean(value, _KINDS)}", at_value)
            kind = cast(FunctionKind, value)
        return PythonCode(at.text, is_body, kind, at.start)
