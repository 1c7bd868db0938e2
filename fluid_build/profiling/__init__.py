"""What is true in the data: columns, keys, foreign keys and semantic types.

``profiler`` drives the steps, in this order. Each package's docstring says how it goes about it.

1. ``measure``: the figures of columns, the types that text really has, and the sets of columns
   whose values never repeat together. A query that fails names the table that can't be read: it is
   copied if it's read from files in place, or else skipped with its reason.
2. ``names``: words, habits of the schema, entities, and which key a name means.
3. ``keys``: which columns are likely to be part of a key, and which keys of few rows are accidents.
4. ``references``: possible parents by name or value, measured on every row and weighed with
   ``weights``.
5. ``choose``: keys and references together. A key is what others refer to or repeat, and a
   reference needs a key. Then how sure: log odds become the share of such references that were
   right in databases left out of the fit (``bench/calibrate.py``, stored as a table).
6. ``evidence``, ``assembly``, ``profile``: each claim with its figures and its query.
   ``semantic_types`` says what a column means by its name and its values, and ``column_meanings``
   asks it, with what the prefixes of names and the values of other tables add.

Names rank, and the data has the veto. Dense integers from 1 prove nothing, however well they are
included; text and sparse numbers count value by value. The weights are set by hand, each with its
reason; only the calibration is fitted, and it changes no ranking.

Of several sources, each is profiled by itself; nothing is believed between them.
"""

from fluid_build.profiling.profiler import profile_source

__all__ = ["profile_source"]
