"""Where rows are: stores, their columns, indexes and expiry."""
