"""Histories of streams: what is read of them before the live source, and in which batches."""
