"""Section VI of Yang and Papadias 2008: what joins save that make only what somebody wants."""

from eddyline.bench.figures.jit.run import run_jit

__all__ = ["run_jit"]
