"""The Deconvolution page: features and places separated from images."""
