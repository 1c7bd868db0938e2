"""Measuring: a sample for the values, one pass for the figures, and the schema of all tables.

``figures`` holds what is known of a column and of a table while they're measured, ``tables`` drives
it: a table of up to 4,096 rows is read once and counted in Python, where a few thousand
values cost less than a query. Of a larger one a single pass counts, bounds and estimates,
and a sample (``samples``) feeds what needn't be exact. ``text_types`` finds the type that text
really has, on every value, and ``compact_dates`` reads eight digits as days. ``candidate_keys``
finds the columns whose values never repeat together. ``schema`` is what all of it is handed on as.
"""
