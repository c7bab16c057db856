"""Sections 3 and 5 of Hammad et al. 2003: the order of results of a shared window join."""

from eddyline.bench.figures.shared_windows.run import run_shared_windows

__all__ = ["run_shared_windows"]
