"""Resumable runs: chunked advance, streams with budgets, races, recording, checkpoints, workers."""

from pmpviz.runs.run import Run, advance, countable, counted, positions, retarget, sample, start
from pmpviz.runs.trace import Trace

__all__ = ["Run", "Trace", "advance", "countable", "counted", "positions", "retarget", "sample", "start"]
