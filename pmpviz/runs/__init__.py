"""Resumable runs: chunked advance, streams with budgets, races, recording, checkpoints, workers."""

from pmpviz.runs.run import Run, advance, counted, positions, retarget, sample, start
from pmpviz.runs.trace import Trace

__all__ = ["Run", "Trace", "advance", "counted", "positions", "retarget", "sample", "start"]
