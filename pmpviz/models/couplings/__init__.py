"""Pairwise couplings of a binary model: shifted lattice planes, padded neighbours, a dense matrix, or layers.

All are in the 0/1 parametrisation: the energy term is sum over edges of w_ij x_i x_j, each edge once. What a layout
gives, and how to add one, is said in `base`.
"""

from pmpviz.models.couplings.base import Conditionals, Couplings, Messages, Shape, colour_of
from pmpviz.models.couplings.colouring import colouring, shift_colouring
from pmpviz.models.couplings.dense import DenseCouplings, to_dense
from pmpviz.models.couplings.layered import LayeredCouplings
from pmpviz.models.couplings.lists import ListCouplings
from pmpviz.models.couplings.matrices import MatrixCouplings
from pmpviz.models.couplings.pairs import PairCouplings
from pmpviz.models.couplings.shift import ShiftCouplings
from pmpviz.models.couplings.sparse import SparseCouplings, to_sparse

LAYOUTS: tuple[type[Couplings], ...] = (ShiftCouplings, SparseCouplings, DenseCouplings, LayeredCouplings)

__all__ = [
    "LAYOUTS",
    "Conditionals",
    "Couplings",
    "DenseCouplings",
    "LayeredCouplings",
    "ListCouplings",
    "MatrixCouplings",
    "Messages",
    "PairCouplings",
    "Shape",
    "ShiftCouplings",
    "SparseCouplings",
    "colour_of",
    "colouring",
    "shift_colouring",
    "to_dense",
    "to_sparse",
]
