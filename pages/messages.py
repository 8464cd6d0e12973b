"""Messages: a small factor graph, and the messages that pass along it, one at a time."""

from pmpviz.capabilities.messages.page import draw

draw()
