"""Checking: the commands that hold a folder, a contract or live data against its promises."""
