"""Data files in object stores and on web servers.

They are listed, and mirrored in a local folder as they are needed, so that every format is read by
the same code as a local file.
"""
