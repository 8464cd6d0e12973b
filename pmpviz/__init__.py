"""pmpviz: see how discrete energy-based models are sampled and solved."""

__version__ = "0.1.0"
