"""The embedded engine: catalog, standing queries and the clock."""
