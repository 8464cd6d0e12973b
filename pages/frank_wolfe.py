"""Frank-Wolfe: marginals from MAP calls, with a certificate."""

from pmpviz.capabilities.marginals.page import draw

draw()
