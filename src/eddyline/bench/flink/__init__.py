"""``eddyline bench flink``: patterns of rows beside Flink SQL, by equal texts over equal rows."""
