"""What is true in the data: columns, keys, foreign keys and semantic types.

``profiler`` drives the steps, in this order:

1. Measure (``table_measurement``, ``samples``, ``measured_types``, ``column_stats``). A table of up
   to 4,096 rows is read once and counted in Python, where a few thousand values cost less than a
   query. Of a larger one a single pass counts, bounds and estimates, and a sample feeds what
   needn't be exact. The type that text really has is checked on every value. ``compact_dates``
   reads eight digits as days and six as months, on both sides of a reference or on neither, and one
   or two values like the other dates of the source. A query that fails names the table that can't
   be read (``query_failures``): it is copied if it's read from files in place, or else skipped with
   its reason, and the others are profiled.
2. Read names: ``names`` (the words of one name), ``vocabulary`` (word sets), ``schema_habits`` and
   ``shared_prefixes`` (marks, modules, key words and prefixes that a schema shares),
   ``naming_words`` (words for names, titles and people), ``parsed_names`` (entities),
   ``name_similarity`` (how alike words are), ``name_references`` (which key a name means). What is
   learnt of a name is learnt once for all columns that share it.
3. Find candidate keys (``candidate_keys``): minimal hitting sets. Two rows that agree in some
   columns prove that no subset of those is a key; each failed candidate yields such a pair and
   prunes many others. ``key_likelihood`` says which columns of a wide table are searched, by names
   and by what other tables repeat. ``accidental_keys`` estimates how many repeats to expect: a key
   that few rows put to the test yields to one with a date or a line number.
4. Find references: ``parent_candidates`` (by name first, by values only where no name convinces),
   ``probing`` and ``inclusion`` (probed, then measured on every row; ``value_cache`` spares most
   queries), ``reference_features`` (what is known of a pair, apart from what it's worth),
   ``foreign_key_scores`` with ``weights`` (names, values and orphans in log odds),
   ``foreign_keys``, ``composite_foreign_keys`` with ``key_column_matches``.
5. Choose. ``key_selection`` alternates between references and keys until neither changes: a key is
   what others refer to or repeat (``primary_keys``, ``key_repeats``), and a reference needs a key.
   ``wider_keys`` adds the columns to a minimal key that other tables repeat with it.
   ``reference_choice`` chooses at most one parent a column over the whole schema: columns of one
   name vote, a reference leads to the table where a key is at home, and of two that point at each
   other one gives way. ``implied_references`` marks what follows from others, ``declared_keys``
   keeps what is declared, and checks it all the same.
6. Say how sure (``calibration``): log odds become the share of such references that were right in
   databases left out of the fit (``bench/calibrate.py``, stored as a table).
   ``unchosen_references`` keeps what was judged and not believed, as questions.
7. State: ``evidence``, ``profile_assembly``, ``profile``; ``semantic_types`` says what a column
   means, by its name and its values, and ``column_meanings`` asks it, with what the prefixes of
   names and the values of other tables add.

Names rank, and the data has the veto. Dense integers from 1 prove nothing, however well they are
included; text and sparse numbers count value by value. The weights are set by hand, each with its
reason; only the calibration is fitted, and it changes no ranking.

``combined_sources`` profiles each of several sources by itself; nothing is believed between them.
"""

from fluid_build.profiling.profiler import profile_source

__all__ = ["profile_source"]
