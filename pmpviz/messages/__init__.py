"""Message passing on factor graphs of any tractable factors, at any message temperature.

`initial(target)`, then `sweep`, `sequential` or `two_pass`, then `beliefs`, `decode` or `bethe_log_z`.
"""

from pmpviz.messages.passing import (
    State,
    beliefs,
    bethe_log_z,
    decode,
    initial,
    log_beliefs,
    max_marginals,
    run,
    sequential,
    sweep,
    two_pass,
    two_pass_order,
)
from pmpviz.messages.perturbed import perturbation, perturbed, sample
from pmpviz.messages.schedule import SCHEDULES, Topology

__all__ = [
    "SCHEDULES",
    "State",
    "Topology",
    "beliefs",
    "bethe_log_z",
    "decode",
    "initial",
    "log_beliefs",
    "max_marginals",
    "perturbation",
    "perturbed",
    "run",
    "sample",
    "sequential",
    "sweep",
    "two_pass",
    "two_pass_order",
]
