"""Why the tokenizer gave up on a text: a quote or comment that never ends."""

from __future__ import annotations

from typing import Final

from eddyline.errors import SqlError
from eddyline.sql.source import Source

#: What opens a stretch of text that is not code, and what ends it.
_SPANS: Final = (("--", "\n"), ("/*", "*/"), ("'", "'"), ('"', '"'), ("`", "`"))


def unclosed_error(source: Source) -> SqlError:
    """The error for a quote or comment that never ends, found by reading the text once more."""
    text, at = source.text, 0
    while at < len(text):
        span = next((s for s in _SPANS if text.startswith(s[0], at)), None)
        if span is None:
            at += 1
            continue
        end = _end(text, at, *span)
        if end is None:
            what = "comment" if span[1] == "*/" else "quote"
            return source.error(at, f"this {what} never ends: {span[1]} is missing")
        at = end
    return SqlError("the text cannot be read as SQL")


def _end(text: str, start: int, opening: str, closing: str) -> int | None:
    """The offset behind a span; None if it never ends (a -- comment ends with the text)."""
    at = start + len(opening)
    while at < len(text):
        if closing == "'" and text[at] == "\\":
            at += 2
        elif text.startswith(closing, at):
            return at + len(closing)
        else:
            at += 1
    return at if closing == "\n" else None
