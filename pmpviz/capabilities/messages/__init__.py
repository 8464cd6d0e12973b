"""The Messages page: message passing on a small graph, one message at a time."""
