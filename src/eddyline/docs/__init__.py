"""Pages and pictures of the documents that are made from the code; it is not part of the wheel."""
