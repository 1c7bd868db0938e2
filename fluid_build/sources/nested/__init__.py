"""Nested values: tables with structs, lists and JSON as flat tables, and the way back."""
