"""Which words of a text are a name: a chain with links between equal words, sampled live beside the exact answer."""
