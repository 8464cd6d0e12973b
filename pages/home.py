"""Home: two samplers already racing, and pictures that open every other page at a preset."""

from pmpviz.capabilities import shown_on_home
from pmpviz.capabilities.sampling.page import home

home(shown_on_home())
