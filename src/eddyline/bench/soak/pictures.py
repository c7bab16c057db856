"""The course of a soak as pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from eddyline.bench.figures.plots import Spot, draw_course
from eddyline.bench.soak.samples import Sample

_PICTURES: Final[Mapping[str, tuple[str, str, Mapping[str, str]]]] = {
    "memory": (
        "Memory",
        "MB",
        {
            "jvm": "Java, resident",
            "jvm_live": "Java, heap in use",
            "driver": "driver's Python",
            "workers": "Python workers",
        },
    ),
    "disk": ("Checkpoint", "MB", {"disk": "bytes of files", "disk_blocks": "on the disk"}),
    "files": (
        "Files",
        "number",
        {
            "files": "of the checkpoint",
            "jvm_files": "open, Java",
            "driver_files": "open, driver's Python",
            "worker_files": "open, workers",
        },
    ),
    "latency": (
        "Time",
        "seconds",
        {"batch_s": "of a batch", "latency_s": "from the source to the sink"},
    ),
    "queries": ("Queries", "number", {"queries": "that run", "worker_count": "Python workers"}),
}


def draw(samples: Sequence[Sample], kills: Sequence[float], folder: Path) -> list[Path]:
    """Write the pictures, with a dotted rule where workers were killed.

    Args:
        kills: when, in seconds.
    """
    found = []
    for name, (title, unit, lines) in _PICTURES.items():
        series = {
            label: [
                Spot(s.t_s / 60, float(v)) for s in samples if (v := getattr(s, of)) is not None
            ]
            for of, label in lines.items()
        }
        most = max((spot.y for line in series.values() for spot in line), default=1.0)
        file = folder / f"{name}.png"
        draw_course(
            file,
            title,
            "dotted: workers are killed",
            series,
            [at / 60 for at in kills],
            ("minutes", unit),
            most=1.1 * most,
        )
        found.append(file)
    return found
