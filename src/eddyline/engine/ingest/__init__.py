"""Ingestion: converts and checks rows of callers, assigns watermarks, measures, fills SteMs."""
