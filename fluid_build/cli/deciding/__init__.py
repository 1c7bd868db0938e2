"""Deciding: the commands by which people settle questions, and what they change in a folder."""
