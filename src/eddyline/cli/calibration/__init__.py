"""``eddyline calibrate``: what the steps of operators cost on this machine."""

from eddyline.cli.calibration.run import run_calibration

__all__ = ["run_calibration"]
