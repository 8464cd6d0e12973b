"""Landscape: a discrete model as hills of Gaussians, and a ball that rolls over them."""

from pmpviz.capabilities.landscape.page import draw

draw()
