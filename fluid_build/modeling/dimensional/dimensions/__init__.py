"""Dimensions: which there are, what they take in, their versions, levels and bridges."""
