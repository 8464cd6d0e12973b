"""The Perturbation lab: noise added to a model, and its maximum by several solvers."""
