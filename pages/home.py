"""Home: a sampler by hand, two samplers that race once they are seen, and pictures that open every other page."""

from pmpviz.capabilities import shown_on_home
from pmpviz.capabilities.home.page import draw

draw(tuple(shown_on_home()))
