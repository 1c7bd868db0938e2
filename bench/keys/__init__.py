"""Databases whose keys are known, and how well their keys are found."""
