"""Forging: the commands that make a folder, and the screens they print."""
