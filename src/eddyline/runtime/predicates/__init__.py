"""Predicates of many queries over one source, applied at once (CACQ, section 3)."""
