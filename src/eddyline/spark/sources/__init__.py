"""Declared sources, and the checks of options of sources and sinks before a job starts."""
