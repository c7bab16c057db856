"""``eddyline bench peers``: the same queries over the same rows in other systems, in turns."""
