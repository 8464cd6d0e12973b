"""Benchmarks, presets of the pages and their pictures."""
