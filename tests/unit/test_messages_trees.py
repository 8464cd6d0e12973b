"""On trees messages are exact, whatever the factors, the evidence and the schedule."""

import numpy as np
import pytest
from factor_trees import random_target

from pmpviz import messages
from pmpviz.capabilities.messages.recording import Settings, record, truth

TREES = 200
# Every recipe, beta, evidence and kind comes with every other one within 24 seeds.
EVERYDAY = 24

pytestmark = pytest.mark.brief


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(EVERYDAY), id=f"{EVERYDAY}"),
        pytest.param(range(EVERYDAY, TREES), id=f"{TREES}", marks=pytest.mark.thorough),
    ],
)
def test_two_hundred_random_trees_are_exact(seeds):
    """Both precisions, sum- and max-product, parallel and in two passes: beliefs, maxima and Bethe's log Z.

    Odd seeds are of one recipe and run in parallel, even ones of the other and in two passes, in single precision.
    """
    for seed in seeds:
        target = random_target(seed, 1.0 if seed % 3 else 0.7)
        expected, start = truth(target), messages.initial(target)
        # A path through all factors is the longest there can be.
        sweeps = np.int32(len(target.model.factors()))
        possible = np.isfinite(expected.log_max_marginals)
        for temperature in (np.float32(0.0), np.float32(1.0)):
            if seed % 2:
                state, _ = messages.run(target, start, sweeps, np.float32(0.0), temperature)
            else:
                state, _ = messages.two_pass(target, start, np.float32(0.0), temperature)
            if temperature:
                found = np.asarray(messages.beliefs(target, state, temperature))
                np.testing.assert_allclose(found, expected.marginals, atol=1e-5)
                log_z = float(messages.bethe_log_z(target, state))
                assert abs(log_z - expected.log_z) < 2e-5 * (1 + abs(expected.log_z))
            else:
                found = np.asarray(messages.max_marginals(target, state))
                np.testing.assert_allclose(found[possible], expected.log_max_marginals[possible], atol=2e-5)
                assert (found[~possible] < -1e8).all()
                x = np.asarray(messages.decode(target, state))
                assert expected.log_max_marginals[np.arange(target.n), x].min() > -1e-4
        kind = float(seed // 4 % 2)
        run = record(target, Settings("two_pass", 0.0, kind, 1))
        np.testing.assert_allclose(run.beliefs[1], expected.marginals if kind else expected.max_marginals, atol=1e-11)
