"""How far samples are from the truth, and how well chains mix: pure functions of arrays on the host.

A number that does not apply is a `Reading` without a value that says why.
"""

from pmpviz.metrics.reading import Reading

__all__ = ["Reading"]
