"""Files: a folder, a glob or a single file as one source.

``layout`` says which files make which tables, ``addresses.periods`` and ``period_tables`` take
those that differ only in a period for one. Each format has its modules or its package. ``remote``
mirrors what is elsewhere, so that every format is read by the same code.
"""
