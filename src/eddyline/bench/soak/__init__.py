"""A soak: see ``run.py``."""
