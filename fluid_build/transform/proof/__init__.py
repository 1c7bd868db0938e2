"""The proof that nothing was lost, and the files that go with it.

``row_comparison`` compares rows as ``EXCEPT ALL`` in both directions would, in one aggregation, and
is stricter than ``=``: -0.0 isn't 0.0. ``figure_checks`` compares figures, and ``proof`` collects
both for each table. ``delimited_text`` checks delimited text as it was read against its files, read
again in another way: the rest of the proof compares with the source as we read it, and would pass a
wrong reading. ``warehouse`` proves what was loaded, read-only: a DuckDB file in place, PostgreSQL
from a private copy.

``source_changes``, ``manifest`` and ``folder_changes`` are about a folder that was forged before.
``folder_changes`` tells files that a forge wrote from those that somebody edited or added, by the
digests in ``forge.json``; ``decisions.yaml`` is the user's, and replaced only if no entry is lost.
"""
