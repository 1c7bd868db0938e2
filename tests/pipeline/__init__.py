"""Tests of the staged pipeline."""
