"""Sections 2 to 4 of Madden et al. 2002: many queries in one eddy."""

from eddyline.bench.figures.cacq.run import run_cacq

__all__ = ["run_cacq"]
