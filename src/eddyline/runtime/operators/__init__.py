"""The operators of a physical plan, one file each."""
