"""Home: a sampler by hand on five spins, a race that runs once it is seen, and the tiles that open other pages."""
