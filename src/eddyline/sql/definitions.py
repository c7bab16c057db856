"""The parts of CREATE statements: names, columns with types, options."""

from __future__ import annotations

from typing import Any, Final

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from eddyline.errors import did_you_mean
from eddyline.sql.datatypes import arrow_type, type_names
from eddyline.sql.dialect import EddylineParser
from eddyline.types import TIMESTAMP, Field, Schema

#: Options as written, each with the place of its value.
PlacedOptions = dict[str, tuple[str, Token]]

_CONSTRAINTS: Final = ("NOT", "NULL", "PRIMARY KEY", "UNIQUE", "DEFAULT", "CHECK", "REFERENCES")


class DefinitionParser(EddylineParser):
    """Parses what stands between the words of a CREATE statement."""

    def _name(self, what: str) -> str:
        node = self._parse_id_var(any_token=False)
        if not isinstance(node, exp.Identifier):
            raise self.fail(f"expected the name of a {what}, {self.here()}")
        return str(node.name)

    def _columns(self) -> Schema:
        if not self._match(TokenType.L_PAREN):
            raise self.fail(f"expected the columns in parentheses, {self.here()}")
        fields: list[Field] = []
        while not fields or self._match(TokenType.COMMA):
            at = self._curr
            if self._next.text.upper() == "FOR" and at.text.upper() == "WATERMARK":
                self.refuse("WATERMARK FOR", "write TIMESTAMP BY ts LATENESS 5 SECONDS behind )")
            field = Field(self._name("column"), self._type())
            if any(f.name.lower() == field.name.lower() for f in fields):
                raise self.fail(f"column '{field.name}' is declared twice", at)
            fields.append(field)
        if self._curr.text.upper() in _CONSTRAINTS:
            self.refuse(self._curr.text.upper(), "a column has a name and a type, and may be NULL")
        if not self._match(TokenType.R_PAREN):
            raise self.fail(f"expected , or ) behind a column's type, {self.here()}")
        return tuple(fields)

    def _type(self) -> Any:
        at = self._curr
        node = self._parse_types(check_func=False, allow_identifiers=False)
        if not isinstance(node, exp.DataType):
            raise self.fail(f"expected a type, {self.here(at)}; {type_choices(at)}", at)
        try:
            return arrow_type(node)
        except ValueError as e:
            raise self.fail(str(e), at) from None

    def _timestamp(self, schema: Schema) -> str:
        at = self._curr
        name = self._name("column")
        found = next((f for f in schema if f.name.lower() == name.lower()), None)
        if found is None:
            choices = did_you_mean(name, [f.name for f in schema])
            raise self.fail(f"there is no column '{name}'; {choices}", at)
        if found.type != TIMESTAMP:
            raise self.fail(
                f"TIMESTAMP BY needs a TIMESTAMP column, but this is {found}; if its values are "
                "numbers, declare it TIMESTAMP and their unit, as in WITH (ts_unit = 'ms')",
                at,
            )
        return found.name

    def _options(self) -> dict[str, str]:
        return without_places(self._placed_options())

    def _placed_options(self) -> PlacedOptions:
        """``WITH (key = value, ...)``: values as text, each with its place; {} without WITH."""
        options: PlacedOptions = {}
        if not self._match(TokenType.WITH):
            return options
        if not self._match(TokenType.L_PAREN):
            raise self.fail(f"expected ( and options, {self.here()}")
        while not options or self._match(TokenType.COMMA):
            at = self._curr
            key = self._option_name()
            while self._match(TokenType.DOT):
                key += "." + self._name("option")
            if not self._match(TokenType.EQ):
                raise self.fail(f"expected = behind option '{key}', {self.here()}")
            if key in options:
                raise self.fail(f"option '{key}' is given twice", at)
            options[key] = (self._option_value(key), self._prev)
        if not self._match(TokenType.R_PAREN):
            raise self.fail(f"expected , or ) behind an option, {self.here()}")
        return options

    def _option_name(self) -> str:
        if self._match(TokenType.DISTINCT):  # a keyword elsewhere
            return "distinct"
        return self._name("option")

    def _option_value(self, key: str) -> str:
        sign = "-" if self._match(TokenType.DASH) else ""
        if self._match(TokenType.NUMBER):
            return sign + self._prev.text
        if not sign and self._match(TokenType.STRING):
            return self._prev.text
        if not sign and self._match_set((TokenType.TRUE, TokenType.FALSE)):
            return self._prev.text.lower()
        raise self.fail(
            f"option '{key}' takes a 'text', a number, TRUE or FALSE, {self.here()}", self._curr
        )


def without_places(options: PlacedOptions) -> dict[str, str]:
    """The options, and no more of where they stand."""
    return {key: value for key, (value, _) in options.items()}


def type_choices(at: Token) -> str:
    """The types that could have stood at a token, the nearest first."""
    return did_you_mean(at.text.upper(), type_names())
