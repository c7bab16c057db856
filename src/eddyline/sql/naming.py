"""Valid names of streams, tables, views, queries and functions.

Names become parts of paths, of side outputs (``late:NAME``) and of messages, so they contain no
characters with a meaning there, and no invisible characters.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from eddyline.errors import SqlError

#: Maximum number of characters; with each byte of the UTF-8 form encoded it still fits a file name.
LONGEST_NAME: Final = 80
_OTHERS: Final = "_-.$ "
_RULE: Final = (
    "names have letters, digits, _, -, ., $ and blanks, begin with a letter, a digit or _, and end "
    f"without a blank or a point; {LONGEST_NAME} characters at most"
)


def why_no_name(name: str) -> str | None:
    """Why a name is not valid; None if it is.

    >>> why_no_name("trades"), why_no_name("Düsseldorf 2.1"), why_no_name("2026-q1")
    (None, None, None)
    >>> why_no_name("../etc")[:36]
    "'../etc' cannot be a name: names hav"
    """
    if len(name) <= LONGEST_NAME and name.replace("_", "").isalnum():
        return None
    ends_well = name[:1] not in tuple("-.$ ") and name[-1:] not in tuple(". ")
    if name and len(name) <= LONGEST_NAME and ends_well and all(map(_is_allowed, name)):
        return None
    shown = name.encode(errors="backslashreplace").decode()
    shown = "".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in shown[:LONGEST_NAME])
    return f"'{shown}' cannot be a name: {_RULE}"


def require_name(name: str) -> None:
    """Check a name that is passed through Python.

    Raises:
        SqlError: the name is not valid; without a position.
    """
    reason = why_no_name(name)
    if reason is not None:
        raise SqlError(reason)


def quoted(name: str) -> str:
    """A name as a quoted SQL identifier.

    >>> print(quoted("a`b"))
    `a``b`
    """
    doubled = name.replace("`", "``")
    return f"`{doubled}`"


def quoted_text(text: str) -> str:
    r"""A text as a SQL literal.

    >>> print(quoted_text("it's"))
    'it''s'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def _is_allowed(char: str) -> bool:
    return char in _OTHERS or unicodedata.category(char)[0] in "LMN"
