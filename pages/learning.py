"""Learning: fit a model to pictures, and watch what it dreams."""

from pmpviz.capabilities.learning.page import draw

draw()
