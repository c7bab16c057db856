"""The error for a text that cannot be split into tokens: a quote or comment without its end."""

from __future__ import annotations

from typing import Final

from eddyline.errors import SqlError
from eddyline.sql.source import SourceText

#: Start and end of comments and quotes.
_SPANS: Final = (("--", "\n"), ("/*", "*/"), ("'", "'"), ('"', '"'), ("`", "`"), ("$$", "$$"))


def unclosed_error(source: SourceText) -> SqlError:
    """The error for a quote or comment without its end."""
    text, at = source.text, 0
    while at < len(text):
        span = next((s for s in _SPANS if text.startswith(s[0], at)), None)
        if span is None:
            at += 1
            continue
        end = _end(text, at, *span)
        if end is None:
            what = "comment" if span[1] == "*/" else "quote"
            return source.error(at, f"this {what} has no end: {span[1]} is missing")
        at = end
    if "$" in text:  # the beginning of $tag$ at the end of the text
        return source.error(text.rindex("$"), "unexpected '$'")
    return SqlError("the text cannot be read as SQL")


def _end(text: str, start: int, opening: str, closing: str) -> int | None:
    """The offset behind a span; None if it has no end (a -- comment ends with the text)."""
    at = start + len(opening)
    while at < len(text):
        if closing == "'" and text[at] == "\\":
            at += 2
        elif text.startswith(closing, at):
            return at + len(closing)
        else:
            at += 1
    return at if closing == "\n" else None
