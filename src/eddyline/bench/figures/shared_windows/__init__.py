"""Sections 3 and 5 of Hammad et al. 2003: the order of results of a shared window join.

This drives the join of ``runtime.window_join`` itself: response times need a server that is called
for one unit of work at a time, at arrival times of its own.
"""

from eddyline.bench.figures.shared_windows.run import run_shared_windows

__all__ = ["run_shared_windows"]
