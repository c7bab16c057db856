"""Whole numbers in SQL text, of any length."""

from __future__ import annotations

from typing import Final

#: Maximum number of characters of a word in a message.
_SHOWN: Final = 40


def whole_number(text: str, limit: int) -> int | None:
    """The value of decimal digits; None if the text is anything else, or not below the limit.

    >>> whole_number("007", 100), whole_number("100", 100), whole_number("1.0", 100)
    (7, None, None)
    """
    if not (text.isascii() and text.isdigit()):
        return None
    digits = text.lstrip("0") or "0"
    if len(digits) > len(str(limit)):  # int() rejects thousands of digits
        return None
    value = int(digits)
    return value if value < limit else None


def shortened(word: str) -> str:
    """A word for a message; a very long one is cut."""
    if len(word) <= _SHOWN:
        return word
    return f"{word[: _SHOWN // 2]}... ({len(word)} characters)"
