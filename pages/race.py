"""Race: two to four samplers on the same model, from the same start, on one budget."""

from pmpviz.capabilities.sampling.page import race

race()
