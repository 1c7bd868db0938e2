"""Judging: which tables are events and which describe them, by what they hold and refer to."""
