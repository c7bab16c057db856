"""A running job: queries added and dropped, requests, progress, metrics and restarts."""
