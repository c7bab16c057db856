"""Views in the engines of a layout, for queries of other layouts that its queries read.

``CREATE QUERY r AS SELECT ... FROM q`` runs in the layout of ``r``, where ``q`` may not run: there
``q`` is a view of the same SELECT. Queries that views of the script read are views in each layout
in which they do not run.
"""

from __future__ import annotations

from collections.abc import Iterable

from eddyline.spark.layouts.layout_shards import LayoutShards
from eddyline.spark.script import Script


class LayoutViews:
    """The views of each layout of a job.

    Args:
        script, layouts: of the job's start.
    """

    def __init__(self, script: Script, layouts: Iterable[LayoutShards]) -> None:
        self._of = {of.ids: set(script.read_beside(of.queries)) for of in layouts}
        self._of_added = frozenset(script.read_beside(()))

    def known(self, layout: LayoutShards) -> frozenset[str]:
        """The queries for which a layout has a view."""
        return frozenset(self._of.get(layout.ids, self._of_added))

    def add(self, layout: LayoutShards, names: Iterable[str]) -> None:
        """These views have been created in a layout."""
        self._of.setdefault(layout.ids, set(self._of_added)).update(names)

    def drop(self, name: str) -> None:
        """The views for a query have been dropped."""
        for names in self._of.values():
            names.discard(name)
