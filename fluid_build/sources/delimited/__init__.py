"""Delimited text files: how one is written, its rows, and the types of its columns."""
