"""The parts of an engine that have state."""

from __future__ import annotations

from dataclasses import dataclass

from eddyline.engine.definitions import Definitions
from eddyline.engine.execution.progress import Progress
from eddyline.engine.ingest.inputs import Inputs
from eddyline.engine.overload.controller import Overload
from eddyline.engine.overload.shedding import Shedding
from eddyline.engine.query_set import QuerySet
from eddyline.sql.catalog import Catalog


@dataclass(frozen=True)
class StatefulParts:
    """What statements change, rows run through and checkpoints keep."""

    catalog: Catalog
    inputs: Inputs
    queries: QuerySet
    definitions: Definitions
    progress: Progress
    shedding: Shedding
    overload: Overload
