"""Playground: build a model, pick an algorithm, watch it work."""

from pmpviz.capabilities.sampling.page import playground

playground()
