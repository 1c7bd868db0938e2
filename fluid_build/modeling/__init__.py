"""The logical model of a profile, by one technique or another of storing it.

``conceptual`` is what every technique shares: entities, keys and relationships, each with its
evidence (``entities`` makes it of a profile). ``data_vault`` and ``dimensional`` never import each
other; each decides what becomes of the entities and returns its own layer, in the types of its
``elements``: every element with its source columns, the reason for it, and what else it could have
been (``alternatives`` of ``element``). The flat technique has no layer of its own. ``techniques``
composes the ``LogicalModel``.

``sql_names`` gives every table and column a name that is legal without quotes on every target;
relations leave out a prefix that most tables share. ``measures`` says which numbers are quantities.
``decided_elements`` renames and describes, and ``decided_measures`` overrules.
``followed`` checks the finished model: a decision that it doesn't show is reported as refused or
unused. ``osi_dialects`` writes OSI expressions in further dialects; ``sqlglot_expressions`` is
imported only for expressions that aren't plain columns.

docs/modeling.md has the rules. ``bench/modelling.py`` compares models with what experts draw
(``tests/modeling/expected``).
"""
