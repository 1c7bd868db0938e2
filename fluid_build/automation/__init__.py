"""Files with which a team's own scheduler or CI runs a folder: short ones, to be read and edited.

``routine`` is what they have to know of a folder, and ``files`` writes them from the templates.
"""
