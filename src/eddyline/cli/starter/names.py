"""Names of a script: of streams, queries and columns."""

from __future__ import annotations

import re
from typing import Final

from eddyline.sql.dialect import Eddyline
from eddyline.sql.naming import quoted

_WORDS: Final = frozenset(
    word for words in Eddyline.tokenizer_class.KEYWORDS for word in words.split()
)
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def sql_name(name: str) -> str:
    """A name as SQL: quoted if it must be, or if it is a word of the language.

    >>> sql_name("price"), sql_name("group"), sql_name("the price")
    ('price', '`group`', '`the price`')
    """
    is_plain = _PLAIN.fullmatch(name) is not None and name.upper() not in _WORDS
    return name if is_plain else quoted(name)


def query_name(text: str) -> str:
    """A name for what we name ourselves, without characters that need quotes.

    >>> query_name("by_the price"), query_name("2026-01 trades"), query_name("Group")
    ('by_the_price', 'rows_2026_01_trades', 'rows_group')
    """
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:60] or "rows"
    return name if sql_name(name) == name else f"rows_{name}"
