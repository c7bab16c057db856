"""``eddyline bench nexmark``: the queries of NEXMark over its auctions, and how fast they run."""
