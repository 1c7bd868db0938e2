"""The command line: thin commands over the rooms below.

Nothing is imported here, so that ``fluid --help`` costs no more than the help itself.
"""
