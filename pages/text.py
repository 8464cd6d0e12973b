"""Text: which words of an announcement are the speaker's name, by any sampler, beside the exact answer."""

from pmpviz.capabilities.text.page import draw

draw()
