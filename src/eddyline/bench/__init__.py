"""Measurements of Eddyline on the machine at hand; outside the layers, like `eddyline.testing`."""
