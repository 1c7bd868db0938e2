"""Delimited text files: how one is written, its rows, and the types of its columns.

``dialect`` finds delimiter and header, and ``readable`` how a file is to be read. ``rows`` loads it
as text: ``repair`` mends ragged lines, ``tail`` and ``trimming`` take out totals and notes.
``text_types`` types the columns over all their values. A large file is typed while it is loaded:
each value is tested against what the file's start settles, and one that fails has the file loaded
as text after all.
"""
