"""Home: a sampler by hand on five spins, the race that already runs, and the tiles that open every other page."""
