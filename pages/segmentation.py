"""Segmentation: the weights of a conditional random field, learned from drawn scenes."""

from pmpviz.capabilities.segmentation.page import draw

draw()
