"""MAP solvers: the kernels that samplers and marginal inference stand on."""
