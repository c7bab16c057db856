"""Figures 6 to 10 of Ayad and Naughton 2004, and the model against the engine that runs."""

from eddyline.bench.figures.static_optimization.run import run_static_optimization

__all__ = ["run_static_optimization"]
