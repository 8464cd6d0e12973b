"""A discrete model as a landscape of Gaussians: the ball that rolls over it, and the states drawn where it stops."""
