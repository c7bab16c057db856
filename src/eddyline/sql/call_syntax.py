"""Calls with words between their arguments, which become calls with commas: ``SUBSTRING(x FROM 2
FOR 3)``, ``TRIM(BOTH 'x' FROM s)``, ``POSITION(x IN s)``, ``OVERLAY(s PLACING x FROM 2)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

_TRIMS: Final = {"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}


def _call(read: Callable[[Any, exp.Expr], list[exp.Expr]]) -> Callable[[Any], exp.Expr]:
    """The parser of a call, behind its opening parenthesis.

    Args:
        read: reads what follows the first argument, and returns all arguments.
    """

    def parse(parser: Any) -> exp.Expr:
        word = parser._tokens[parser._index - 2]
        name = word.text
        for side, function in _TRIMS.items() if name.upper() == "TRIM" else ():
            if parser._match_text_seq(side):
                name = function
                parser._match(TokenType.FROM)
        arguments: list[exp.Expr] = []
        if not parser._match(TokenType.R_PAREN, advance=False):
            arguments = read(parser, parser._parse_bitwise())
        while parser._match(TokenType.COMMA):
            arguments.append(parser._parse_disjunction())
        call: exp.Expr = parser.expression(exp.Anonymous(this=name, expressions=arguments))
        call.update_positions(word)
        return call

    return parse


def _substring(parser: Any, text: exp.Expr) -> list[exp.Expr]:
    if parser._match(TokenType.FROM):
        return [text, parser._parse_bitwise(), *_length(parser)]
    length = _length(parser)
    return [text, exp.Literal.number(1), *length] if length else [text]


def _length(parser: Any) -> list[exp.Expr]:
    return [parser._parse_bitwise()] if parser._match_text_seq("FOR") else []


def _trim(parser: Any, first: exp.Expr) -> list[exp.Expr]:
    return [first, parser._parse_bitwise()] if parser._match(TokenType.FROM) else [first]


def _position(parser: Any, part: exp.Expr) -> list[exp.Expr]:
    return [part, parser._parse_bitwise()] if parser._match(TokenType.IN) else [part]


def _overlay(parser: Any, text: exp.Expr) -> list[exp.Expr]:
    if not parser._match_text_seq("PLACING"):
        return [text]
    by = parser._parse_bitwise()
    if not parser._match(TokenType.FROM):
        raise parser.fail(f"expected FROM and a position, {parser.here()}")
    return [text, by, parser._parse_bitwise(), *_length(parser)]


def json_value(parser: Any) -> exp.Expr:
    """``JSON_VALUE(text, '$.path' RETURNING INT DEFAULT 0 ON EMPTY NULL ON ERROR)``."""
    word = parser._tokens[parser._index - 2]
    arguments = parser._parse_csv(parser._parse_bitwise)
    call: exp.Expr = _named(parser, word, word.text, arguments)
    value = call
    if parser._match_text_seq("RETURNING"):
        kind = parser._parse_types(check_func=False, allow_identifiers=False)
        if kind is None:
            raise parser.fail(f"expected a type behind RETURNING, {parser.here()}")
        value = parser.expression(exp.TryCast(this=call, to=kind, safe=True))
        value.update_positions(word)
    while (what := parser._curr.text.upper()) in ("NULL", "ERROR", "DEFAULT"):
        at = parser._curr
        parser._advance()
        default = parser._parse_bitwise() if what == "DEFAULT" else None
        event = next((e for e in ("EMPTY", "ERROR") if parser._match_text_seq("ON", e)), None)
        if event is None:
            raise parser.fail(f"expected ON EMPTY or ON ERROR, {parser.here()}")
        if what == "ERROR" or (default is not None and event == "ERROR"):
            advice = "NULL ON ERROR is the rule; CAST(json_value(text, '$.a') AS INT) fails instead"
            parser.refuse(f"{what} ON {event}", advice, at)
        if default is not None:
            there = _named(parser, word, "json_exists", [a.copy() for a in call.expressions])
            missing = parser.expression(exp.Not(this=there))
            branch = parser.expression(exp.If(this=missing, true=default))
            value = parser.expression(exp.Case(ifs=[branch], default=value))
            value.update_positions(word)
    return value


def _named(parser: Any, word: Any, name: str, arguments: list[exp.Expr]) -> exp.Expr:
    call: exp.Expr = parser.expression(exp.Anonymous(this=name, expressions=arguments))
    call.update_positions(word)
    return call


def existence(parser: Any) -> exp.Expr:
    """``EXISTS (SELECT ...)``, or ``exists(list, x -> condition)``."""
    word = parser._tokens[parser._index - 2]
    node: exp.Expr
    if _has_arrow(parser):
        arguments = parser._parse_csv(parser._parse_lambda)
        node = parser.expression(exp.Anonymous(this=word.text, expressions=arguments))
    elif parser._curr.token_type in (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN):
        node = parser.expression(exp.Exists(this=parser._parse_statement()))
    else:
        raise parser.fail(f"expected a SELECT in EXISTS, {parser.here()}")
    node.update_positions(word)
    return node


def _has_arrow(parser: Any) -> bool:
    """Whether ``->`` follows before the open parenthesis ends, outside of a SELECT."""
    depth = 0
    for token in parser._tokens[parser._index :]:
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if depth < 0 or token.token_type == TokenType.SELECT:
            return False
        if depth == 0 and token.token_type == TokenType.ARROW:
            return True
    return False


def _floor(parser: Any) -> exp.Expr:
    """``FLOOR(x)``, or Flink's ``FLOOR(ts TO HOUR)``, which is ``DATE_TRUNC('HOUR', ts)``."""
    word = parser._tokens[parser._index - 2]
    arguments = parser._parse_csv(parser._parse_disjunction)
    name = word.text
    if len(arguments) == 1 and parser._match_text_seq("TO"):
        if name.upper() != "FLOOR":
            parser.refuse(
                f"{name} to a unit", "write date_trunc('hour', ts) + INTERVAL 1 HOUR", word
            )
        unit = parser._curr
        parser._advance()
        name, arguments = "date_trunc", [exp.Literal.string(unit.text), *arguments]
    call: exp.Expr = parser.expression(exp.Anonymous(this=name, expressions=arguments))
    call.update_positions(word)
    return call


#: Parsers by the name of the function.
CALLS: Final[dict[str, Callable[[Any], exp.Expr]]] = {
    "JSON_VALUE": json_value,
    "SUBSTRING": _call(_substring),
    "SUBSTR": _call(_substring),
    "TRIM": _call(_trim),
    "POSITION": _call(_position),
    "OVERLAY": _call(_overlay),
    **dict.fromkeys(("FLOOR", "CEIL", "CEILING"), _floor),
}
