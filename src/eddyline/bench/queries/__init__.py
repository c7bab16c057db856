"""``eddyline bench queries``: what thousands of standing queries on one stream cost."""
