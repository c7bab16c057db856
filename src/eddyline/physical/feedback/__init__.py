"""Which rows the consumers of a join have a use for, planned: just-in-time feedback."""
