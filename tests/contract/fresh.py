"""Repeats the statistical suite at fresh seeds, and measures the power of the detectors on the planted bugs.

    python -m tests.contract.fresh --seeds 10             false alarms of the whole suite
    python -m tests.contract.fresh --seeds 20 --mutants   share of seeds at which each bug is caught

The exit status is the number of failures (false alarms, or bugs missed), at most 100.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from contextlib import contextmanager

import jax
import numpy as np
from scipy.stats import norm

from pmpviz.contract import detectors, suite
from pmpviz.contract.laws import ALPHA, FIRST_LOOK
from tests.contract.brought_mutants import MUTANTS
from tests.contract.mutants import Mutant

STATISTICAL = (
    detectors.exact_start,
    detectors.exact_start_large,
    detectors.cold_start,
    detectors.symmetry,
    detectors.draws_law,
)
LARGEST_Z = 37.0


def false_alarms(seeds: list[int]) -> int:
    """Run every case at every seed; prints and counts the failures."""
    cases, failures, smallest = suite.law_cases(), 0, 1.0
    for number, seed in enumerate(seeds, 1):
        verdicts = [(case, case.run(seed)) for case in cases]
        bad = [(case, verdict) for case, verdict in verdicts if not verdict.passed]
        failures += len(bad)
        smallest = min([smallest, *(verdict.p for _, verdict in verdicts)])
        print(f"seed {seed} ({number}/{len(seeds)}): {len(cases)} checks, {len(bad)} failures", flush=True)
        for case, verdict in bad:
            print(f"  {case}: {verdict.found}")
    print(
        f"{len(seeds)} seeds, {len(seeds) * len(cases)} checks, {failures} failures, smallest deciding p {smallest:.2g}"
    )
    return failures


def power(seeds: list[int], only: str = "") -> int:
    """Catch every planted bug at every seed; prints the share caught, and counts the misses.

    For a statistical detector the power is also estimated from the p-values of the first look alone, as normal
    deviates z: the share of a normal law of their mean and spread beyond the deviate of 1e-3, which calls for the
    second look. That one has 8 times the draws, so it misses less. (Of the check at 2^20 chains at once: of 1e-6.)
    """
    missed = 0
    for mutant in (m for m in MUTANTS if only in str(m)):
        verdicts = [mutant.run(jax.random.key(seed)) for seed in seeds]
        caught = sum(not verdict.passed for verdict in verdicts)
        missed += len(seeds) - caught
        note = f"{mutant!s:32} {mutant.detector.__name__:18} {caught}/{len(seeds)}"
        if mutant.detector in STATISTICAL:
            note += _estimate(mutant, seeds)
        print(note, flush=True)
    return missed


def _estimate(mutant: Mutant, seeds: list[int]) -> str:
    with first_look_only():
        p = np.array([mutant.run(jax.random.key(seed)).p for seed in seeds])
    threshold = ALPHA if mutant.detector is detectors.exact_start_large else FIRST_LOOK
    z = np.minimum(norm.isf(np.maximum(p, np.finfo(float).tiny)), LARGEST_Z)
    spread = max(z.std(ddof=1) if len(z) > 1 else 1.0, 1.0)
    share = norm.cdf((z.mean() - norm.isf(threshold)) / spread)
    return f"  weakest first p {p.max():.2g}, power {100 * share:.4f} %"


@contextmanager
def first_look_only():
    """Within it, two-stage checks report the p-value of their first look."""
    real = detectors.two_stages
    detectors.two_stages = lambda p_value: p_value(0, 1)
    try:
        yield
    finally:
        detectors.two_stages = real


def main() -> int:
    """Read the flags, draw the seeds, run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="number of fresh random seeds")
    parser.add_argument("--mutants", action="store_true", help="measure the detectors' power instead")
    parser.add_argument("--only", default="", help="with --mutants: those whose name holds this text")
    args = parser.parse_args()
    seeds = [secrets.randbits(31) for _ in range(args.seeds)]
    return min(100, power(seeds, args.only) if args.mutants else false_alarms(seeds))


if __name__ == "__main__":
    sys.exit(main())
