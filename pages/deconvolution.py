"""Deconvolution: features and locations separated from images, and what fails at it."""

from pmpviz.capabilities.deconvolution.page import draw

draw()
