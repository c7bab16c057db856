"""The text of a script, and positions in it for errors."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from eddyline.errors import SqlError


@dataclass(frozen=True, slots=True)
class SourceText:
    """A whole script. Offsets of its tokens and syntax nodes count from its first character."""

    text: str

    def require_characters(self) -> None:
        """Check that the text can be encoded as UTF-8.

        Raises:
            SqlError: it contains half of a surrogate pair.
        """
        try:
            self.text.encode()
        except UnicodeEncodeError as e:
            shown = SourceText(self.text.encode(errors="replace").decode())
            code = ord(self.text[e.start])
            raise shown.error(
                e.start, f"U+{code:04X} is half of a surrogate pair, which UTF-8 cannot encode"
            ) from None

    def error(
        self, at: int | Token | exp.Expr, message: str, kind: type[SqlError] = SqlError
    ) -> SqlError:
        """An error of this kind at an offset, at a token, or at the first word of a node."""
        offset = at if isinstance(at, int) else offset_of(at)
        if offset is None:
            return kind(message)
        line, column = self.position(offset)
        return kind(message, line=line, column=column, sql=self.text)

    def is_in_double_quotes(self, at: Token | exp.Expr) -> bool:
        """Whether a word is a name in double quotes."""
        offset = offset_of(at)
        return offset is not None and self.text.startswith('"', offset)

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column, both from 1, of an offset."""
        starts = _line_starts(self.text)
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1


@lru_cache(maxsize=4)
def _line_starts(text: str) -> list[int]:
    """The offsets at which lines start; cached, as each statement of a script needs them."""
    return [0, *accumulate(len(line) + 1 for line in text.split("\n")[:-1])]


def offset_of(at: Token | exp.Expr) -> int | None:
    """The offset of a token, or of the leftmost word of a node, or of its parent if it has none."""
    if isinstance(at, Token):
        return at.start
    own = at.meta.get("start")
    if own is not None:
        return int(own)
    below = [int(n.meta["start"]) for n in at.walk() if "start" in n.meta]
    if below:
        return min(below)
    return offset_of(at.parent) if at.parent is not None else None
