"""Character positions in UTF-8 columns, for kernels that Arrow offers only for constants."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_Ints = npt.NDArray[np.int64]

FAR: Final = 1 << 40  #: a position beyond the end of any text; sums with it do not overflow


class Characters:
    """The characters of a string column, addressed by (row, position from 0).

    ``starts`` are the byte offsets of the column's characters, all rows in sequence, followed by
    the end of the data; ``first[r]`` is the index in it of row ``r``'s first character. NULL counts
    as an empty text, and stays NULL in results.

    Attributes:
        lengths: number of characters per row, int64.
    """

    def __init__(self, texts: pa.Array) -> None:
        self._texts = texts
        clean = texts.fill_null("") if texts.null_count else texts
        size = len(clean)
        offsets_buffer, data_buffer = clean.buffers()[1:]
        if size == 0 or offsets_buffer is None:
            offsets = np.zeros(size + 1, np.int64)
        else:
            offsets = np.frombuffer(offsets_buffer, np.int32, size + 1, clean.offset * 4)
        self._offsets = offsets.astype(np.int64)
        low, high = int(self._offsets[0]), int(self._offsets[-1])
        data = np.frombuffer(data_buffer, np.uint8) if data_buffer else np.zeros(0, np.uint8)
        self._bytes = data[:high]
        begins = np.flatnonzero((self._bytes[low:] & 0xC0) != 0x80) + low
        self._starts: _Ints = np.append(begins, high).astype(np.int64)
        self._first: _Ints = np.searchsorted(self._starts, self._offsets)
        self.lengths: _Ints = np.diff(self._first)

    def slice(self, start: Any, stop: Any) -> pa.Array:
        """The characters ``start <= position < stop`` of each row, clipped to the text.

        Args:
            start: one int, or one per row; negative values count as zero.
            stop: likewise; values beyond the end count as the end.
        """
        begin = self._first[:-1] + np.clip(start, 0, self.lengths)
        end = np.maximum(self._first[:-1] + np.clip(stop, 0, self.lengths), begin)
        from_byte, sizes = self._starts[begin], self._starts[end] - self._starts[begin]
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        where = np.repeat(from_byte - offsets[:-1], sizes) + np.arange(offsets[-1])
        sliced = pa.StringArray.from_buffers(
            len(sizes), pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(self._bytes[where])
        )
        if not self._texts.null_count:
            return sliced
        return pa.compute.if_else(self._texts.is_valid(), sliced, pa.scalar(None, pa.string()))

    def position_of_byte(self, offsets: _Ints) -> npt.NDArray[np.int32]:
        """The position, from 1, of the character at a byte offset in its row; 0 if negative."""
        character = np.searchsorted(self._starts, self._offsets[:-1] + offsets) - self._first[:-1]
        return np.where(offsets < 0, 0, character + 1).astype(np.int32)

    def first_code_points(self) -> npt.NDArray[np.int32]:
        """The Unicode code point of each row's first character; 0 for empty text."""
        padded = np.append(self._bytes, np.zeros(4, np.uint8)).astype(np.int32)
        b0, b1, b2, b3 = (padded[self._offsets[:-1] + i] for i in range(4))
        tails = b1 & 0x3F, b2 & 0x3F, b3 & 0x3F
        two = (b0 & 0x1F) << 6 | tails[0]
        three = (b0 & 0x0F) << 12 | tails[0] << 6 | tails[1]
        four = (b0 & 0x07) << 18 | tails[0] << 12 | tails[1] << 6 | tails[2]
        point = np.select([b0 < 0x80, b0 < 0xE0, b0 < 0xF0], [b0, two, three], four)
        return np.where(self.lengths == 0, 0, point).astype(np.int32)
