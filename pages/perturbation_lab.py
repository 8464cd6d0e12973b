"""Perturbation lab: noise added to a model, and what solvers make of it."""

from pmpviz.capabilities.perturbation.page import draw

draw()
