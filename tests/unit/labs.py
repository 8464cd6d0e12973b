"""Perturbation labs that have worked off their plan."""

import time

from pmpviz.capabilities.perturbation.live import LabView, LivePerturbation
from pmpviz.capabilities.perturbation.plan import LabPlan

CLIQUE = LabPlan("clique:6,theta=2", solvers=("icm", "linear_program", "exact"), seed=5)


def worked_off(plan: LabPlan) -> LabView:
    live, until = LivePerturbation(plan), time.monotonic() + 180
    while live.busy and time.monotonic() < until:
        live.touch()
        time.sleep(0.02)
    live.close()
    return live.view
