"""Decisions: what a person or a model says about the data, in one typed language."""
