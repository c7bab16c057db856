"""Text of a script to statements: ``parse()``."""

from __future__ import annotations

import re
from typing import Final

from eddyline.errors import SqlError
from eddyline.sql.dialect import Eddyline
from eddyline.sql.idioms import with_advice
from eddyline.sql.source import SourceText
from eddyline.sql.stack import with_stack
from eddyline.sql.statement_parser import StatementParser
from eddyline.sql.statements import Statement
from eddyline.sql.templates import LONGEST, Templates, Text

__all__ = ["StatementParser", "parse"]

_DIALECT: Final = Eddyline()
_TEMPLATES: Final = Templates()
#: A statement up to its semicolon, in a text without characters that could give those of quotes,
#: comments and semicolons another meaning.
_STATEMENT: Final = re.compile(
    r"""(?:[^;'"`{$\\/-]|'[^'\\]*'|"[^"\\]*"|`[^`\\]*`|-(?!-)|/(?!\*)|--[^\n;'"`{$\\]*\n)*"""
)


def parse(sql: str) -> list[Statement]:
    """The statements of a script, separated by semicolons.

    Raises:
        SqlError: the text is not a statement of the language; with line, column and valid choices.
        UnsupportedError: it is valid SQL that this engine does not run.

    >>> [type(s).__name__ for s in parse("SELECT x FROM s [NOW]; DROP QUERY q")]
    ['SelectStatement', 'Drop']
    """
    source = SourceText(sql)
    source.require_characters()
    spans = _spans(sql)
    if len(spans) > 1:
        try:
            return [s for span in spans for s in _of_span(source, *span)]
        except SqlError:  # which of several errors is reported depends on the whole text
            return _parsed(source)
    return _of_span(source, 0, len(sql))


def _spans(sql: str) -> list[tuple[int, int]]:
    """Where the statements of a script are; empty if that takes a parser."""
    spans, at = [], 0
    while at < len(sql):
        end = _STATEMENT.match(sql, at).end()  # type: ignore[union-attr]  # it matches nothing, too
        if end < len(sql) and sql[end] != ";":
            return []
        start = end - len(sql[at:end].lstrip())
        if start < end:
            spans.append((start, end))
        at = end + 1
    return spans


def _of_span(source: SourceText, start: int, end: int) -> list[Statement]:
    """The statements in a part of a script, from a template if there is one."""
    span = (start, end)
    if end - start > LONGEST:
        return _parsed(source, span)
    text = Text(source.text[start:end], start)
    known = _TEMPLATES.find(text, source)
    if known is not None:
        return [known]
    statements = _parsed(source, span)
    _TEMPLATES.learn(text, statements)
    return statements


def _parsed(source: SourceText, span: tuple[int, int] | None = None) -> list[Statement]:
    sql = source.text
    if span == (0, len(sql)):
        span = None
    try:
        return with_stack(lambda: StatementParser(dialect=_DIALECT).statements(sql, span))
    except SqlError as e:
        raise with_advice(e, sql) from None
