"""From the rows that a caller hands over to the SteMs: types, watermarks, statistics."""
