"""What a call of the engine gives back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa


class Changes(Mapping[str, pa.Table]):
    """Changes by query name: ``_op``, ``_ts``, ``_exp``, then the select list.

    Attributes:
        late: by stream, the rows that came behind the watermark, with ``_reason``.
        bad: by stream, the rows that could not be used, as text, with ``_reason``.
    """

    def __init__(
        self,
        tables: Mapping[str, pa.Table],
        late: Mapping[str, pa.Table] | None = None,
        bad: Mapping[str, pa.Table] | None = None,
    ) -> None:
        self._tables = dict(tables)
        self.late = dict(late or {})
        self.bad = dict(bad or {})

    def __getitem__(self, name: str) -> pa.Table:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        parts = [f"{name}: {table.num_rows} changes" for name, table in self._tables.items()]
        parts += [f"{t.num_rows} late rows of {s}" for s, t in self.late.items()]
        parts += [f"{t.num_rows} bad rows of {s}" for s, t in self.bad.items()]
        return f"Changes({', '.join(parts)})"
