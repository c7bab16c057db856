"""Window joins shared by queries with different windows, and their schedules."""
