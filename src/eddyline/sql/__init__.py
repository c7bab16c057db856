"""SQL text to bound plans: dialect, statements, catalog, binder."""
