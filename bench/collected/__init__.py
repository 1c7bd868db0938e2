"""Databases with declared keys that are fetched again from public repositories."""
