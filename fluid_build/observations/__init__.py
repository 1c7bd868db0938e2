"""How rows behave: figures that modelling decisions rest on, and that a profile doesn't need.

A forge measures them once keys and references are known, and the modelling takes them next to the
profile. Each module has one kind of observation, its type and the function that measures it;
``observed_tables`` reads a column as a typed value, ``observe`` runs them all, for one source or
several. Work is bounded: names and figures of the profile choose the candidates, large tables are
first judged by a part, and a query that fails leaves its observation out.

- ``same_moment``, ``date_orders``, ``row_identities``: dates that say one moment twice; which date
  comes first and which is filled in later; what identifies rows that are only numbered
- ``row_formulas``, ``header_totals``, ``running_levels``: columns that are the product or sum of
  two others; totals of lines; balances and what moves them
- ``aggregates`` (with ``aggregate_candidates``), ``closures``, ``hierarchies``: tables that hold
  the totals of another; closures of hierarchies; how many levels they have
- ``recurring_services``: weekday flags between two dates, and by the data which exceptions add a
  day or leave one out
- ``contradicted_references``, ``shared_identifiers``: references whose rows disagree; what several
  tables identify and none lists
- ``key_overlaps``, ``key_uses``, ``named_columns``: keys of several sources that have values in
  common, and columns named for another source's key
"""
