"""What can be the name of a stream, table, view, query or function.

Names become parts of paths, of side outputs (``late:NAME``) and of messages, so they hold nothing
that means something there, and nothing that cannot be seen.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from eddyline.errors import SqlError

#: Characters of a name at most: in UTF-8, and with each byte encoded, it still names a file.
LONGEST_NAME: Final = 80
_OTHERS: Final = "_-.$ "
_RULE: Final = (
    "names have letters, digits, _, -, ., $ and blanks, begin with a letter, a digit or _, and end "
    f"without a blank or a point; {LONGEST_NAME} characters at most"
)


def why_no_name(name: str) -> str | None:
    """Why something cannot have this name; None if it can.

    >>> why_no_name("trades"), why_no_name("Düsseldorf 2.1"), why_no_name("2026-q1")
    (None, None, None)
    >>> why_no_name("../etc")[:36]
    "'../etc' cannot be a name: names hav"
    """
    ends_well = name[:1] not in tuple("-.$ ") and name[-1:] not in tuple(". ")
    if name and len(name) <= LONGEST_NAME and ends_well and all(map(_is_allowed, name)):
        return None
    shown = name.encode(errors="backslashreplace").decode()
    shown = "".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in shown[:LONGEST_NAME])
    return f"'{shown}' cannot be a name: {_RULE}"


def require_name(name: str) -> None:
    """Check the name of what is given through Python.

    Raises:
        SqlError: it cannot be one; without a place.
    """
    reason = why_no_name(name)
    if reason is not None:
        raise SqlError(reason)


def quoted(name: str) -> str:
    """A name as SQL text, whatever it holds.

    >>> print(quoted("a`b"))
    `a``b`
    """
    doubled = name.replace("`", "``")
    return f"`{doubled}`"


def _is_allowed(char: str) -> bool:
    return char in _OTHERS or unicodedata.category(char)[0] in "LMN"
