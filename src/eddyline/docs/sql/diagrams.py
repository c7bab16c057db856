"""Railroad diagrams of the rules of the grammar, as SVG that is legible on light and dark pages."""

from __future__ import annotations

from io import StringIO
from typing import Any, Final

import railroad

from eddyline.docs.sql.grammar import (
    Choice,
    Expression,
    Optional,
    Reference,
    Repeated,
    Rule,
    Sequence,
    Sign,
    Word,
)

#: Lines and filled boxes with their own text: none needs a background.
_STYLE: Final = """
svg.railroad-diagram path { stroke-width: 2; stroke: #7d8794; fill: none; }
svg.railroad-diagram text {
  font: 13px ui-monospace, Menlo, Consolas, monospace; text-anchor: middle; fill: #14202b;
}
svg.railroad-diagram rect { stroke-width: 1; stroke: #7d8794; fill: #d5e6f7; }
svg.railroad-diagram .non-terminal rect { fill: #f5e6c8; }
"""
#: Pixels after which a sequence goes on in another line.
_WIDEST: Final = 760


def diagram(rule: Rule) -> str:
    """The diagram of a rule."""
    drawn = railroad.Diagram(_drawn(rule.expression, outermost=True), type="complex")
    text = StringIO()
    drawn.writeStandalone(text.write, css=_STYLE)
    return text.getvalue().replace("\n\n", "\n").strip() + "\n"


def _drawn(part: Expression, *, outermost: bool = False) -> Any:
    match part:
        case Word(text, plural):
            return railroad.Terminal(f"{text}(S)" if plural else text)
        case Sign(text):
            return railroad.Terminal(text)
        case Reference(name):
            return railroad.NonTerminal(name)
        case Optional(inner):
            return railroad.Optional(_drawn(inner))
        case Repeated(inner):
            return railroad.ZeroOrMore(_drawn(inner))
        case Choice(parts):
            return railroad.Choice(0, *(_drawn(p, outermost=outermost) for p in parts))
        case Sequence(parts):
            items = _items(parts)
            lines = _lines(items) if outermost else [items]
            if len(lines) == 1:
                return railroad.Sequence(*items)
            return railroad.Stack(*(railroad.Sequence(*line) for line in lines))


def _items(parts: tuple[Expression, ...]) -> list[Any]:
    """The drawn parts; ``x {"," x}`` is one part."""
    found: list[Any] = []
    at = 0
    while at < len(parts):
        match parts[at : at + 2]:
            case (first, Repeated(Sequence((Sign() as sign, *rest)))) if rest == [first]:
                found.append(railroad.OneOrMore(_drawn(first), _drawn(sign)))
                at += 2
            case _:
                found.append(_drawn(parts[at]))
                at += 1
    return found


def _lines(items: list[Any]) -> list[list[Any]]:
    lines: list[list[Any]] = [[]]
    width = 0
    for item in items:
        if lines[-1] and width + item.width > _WIDEST:
            lines.append([])
            width = 0
        lines[-1].append(item)
        width += item.width + 20
    return lines
