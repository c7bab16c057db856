"""The eddy: rows of many queries routed adaptively through shared operators."""
