"""How log messages say that a state is impossible, and stay finite."""

# The log message of a state that hard evidence or a forbidding factor rules out; single precision adds up many.
IMPOSSIBLE = -1e9
# A log message this far below the best state's is taken for impossible: no sum of potentials comes near it.
CERTAIN = 0.5 * IMPOSSIBLE
# Below any sum of the two: the log weight of what cannot happen for want of variables.
NEVER = 4 * IMPOSSIBLE
# Changes of log messages are not counted beyond this size: odds of e^10000 are as good as certain.
SURE = 1e4
