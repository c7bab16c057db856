"""``python -m eddyline`` is the command ``eddyline``."""

from eddyline.cli.main import app

app()
