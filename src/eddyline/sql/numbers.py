"""Whole numbers in SQL text, of any length."""

from __future__ import annotations

from typing import Final

#: Characters of a word that a message shows at most.
_SHOWN: Final = 40


def whole_number(text: str, limit: int) -> int | None:
    """The number that digits stand for; None if the text is something else, or not below the limit.

    >>> whole_number("007", 100), whole_number("100", 100), whole_number("1.0", 100)
    (7, None, None)
    """
    if not (text.isascii() and text.isdigit()):
        return None
    digits = text.lstrip("0") or "0"
    if len(digits) > len(str(limit)):  # Python refuses to read thousands of them
        return None
    value = int(digits)
    return value if value < limit else None


def shortened(word: str) -> str:
    """A word for a message, without the middle of a very long one."""
    if len(word) <= _SHOWN:
        return word
    return f"{word[: _SHOWN // 2]}... ({len(word)} characters)"
