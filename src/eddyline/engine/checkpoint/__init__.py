"""Writing an engine to a file, and restoring it."""
