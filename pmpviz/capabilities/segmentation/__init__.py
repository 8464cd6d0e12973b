"""Segmentation: the weights of a conditional random field, learned live from drawn scenes by samples and marginals."""
