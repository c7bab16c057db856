"""Upper and lower case by Unicode's full mappings, as in Java and Python.

Arrow's kernels map one character to one: ``upper('ß')`` = 'SS' and ``lower('ΑΣ')`` = 'ας' need
more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.physical.expressions.characters import FAR, Characters
from eddyline.physical.expressions.data import null_where_not

_DOTTED_I = "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}"  #: becomes two characters in lower case


def upper(texts: pa.Array) -> pa.Array:
    """In upper case."""
    return pc.ascii_upper(texts) if _is_ascii(texts) else _converted(texts, str.upper)


def lower(texts: pa.Array) -> pa.Array:
    """In lower case; a sigma at the end of a word becomes a final sigma."""
    return pc.ascii_lower(texts) if _is_ascii(texts) else _converted(texts, str.lower)


def initcap(texts: pa.Array) -> pa.Array:
    """Words between blanks: the first character in title case, the others in lower case."""
    present = texts.fill_null("")
    words, lowered = (pc.split_pattern(t, " ") for t in (present, lower(present)))
    first = pc.utf8_slice_codeunits(words.values, 0, 1).dictionary_encode()
    titles = pa.array([c.title() for c in first.dictionary.to_pylist()], pa.string())
    is_dotted = pc.equal(first.cast(pa.string()), _DOTTED_I)
    rest = Characters(lowered.values).slice(1 + np.asarray(is_dotted.cast(pa.int64())), FAR)
    capitalized = pc.binary_join_element_wise(titles.take(first.indices), rest, "")
    joined = pc.binary_join(pa.ListArray.from_arrays(words.offsets, capitalized), " ")
    return null_where_not(texts.is_valid(), joined) if texts.null_count else joined


def _is_ascii(texts: pa.Array) -> bool:
    return pc.all(pc.string_is_ascii(texts), min_count=0).as_py() is True


def translate(texts: pa.Array, characters: str, others: str) -> pa.Array:
    """Each of the characters replaced by that at its place in ``others``, or left out."""
    if not len(texts):
        return texts
    pairs = zip_longest(characters, others[: len(characters)], fillvalue="")
    table = {ord(c): other for c, other in reversed([*pairs])}  # the first one counts
    return _converted(texts, lambda text: text.translate(table), characters + others)


def _converted(texts: pa.Array, convert: Callable[[str], str], taken: str = "") -> pa.Array:
    """Applies a str method to the column as one text, with a separator that no row contains.

    Args:
        taken: characters that the method replaces or makes.
    """
    present = texts.fill_null("") if texts.null_count else texts
    rows = pa.ListArray.from_arrays(pa.array([0, len(present)], pa.int32()), present)
    separator = next(
        s
        for s in _separators()
        if s not in taken and not pc.any(pc.match_substring(present, s)).as_py()
    )
    whole = convert(pc.binary_join(rows, separator)[0].as_py())
    parts = pc.split_pattern(pa.array([whole]), separator).values
    return null_where_not(texts.is_valid(), parts) if texts.null_count else parts


def _separators() -> Iterator[str]:
    """Private-use characters: they have no case and do not change word boundaries."""
    return map(chr, range(0xF8FF, 0xE000, -1))
