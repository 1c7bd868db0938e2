"""The transform plan: what a model is built of, for each technique.

A plan (``elements``) is a pure function of the model: ``transform_plan(model)`` (``techniques``, of
a ``FlatPlan``, ``VaultPlan`` or ``MartPlan``) needs no source, no profile and no clock. That is why
``fluid verify`` can derive it again from ``model.json``, and never runs SQL that it read from a
file. Its SQL is plain DuckDB: ``source.<id>`` is a table of the source and ``model.<name>`` another
build.

``staging`` types and renames, and knows the way back. Where converting text loses its spelling
(``1.50``), a vault keeps the text and the other techniques keep the value. ``flat``, ``data_vault``
and ``dimensional`` make the builds, and for each source table the query that rebuilds it from the
builds alone. Patterns that repeat (hubs, links, histories) are macros (``macros/*.sql``), which
``macro_calls`` renders here and a dbt project calls: what is new, what changed, what is gone is
said there. ``history`` reads what they have loaded. ``sql_layout`` lays out all other SQL. A
build has the query of its first load and, where it adds to what is there, that of the next ones.

``relied_keys``: the keys that a technique loads by. ``quarantine`` sets rows apart that break one,
so that they stop no others. What it can't see is tested on the staging: keys that differ and share
a hash. All rows of such a key are compared and added together, so that none is dropped, none is
added twice, and the test of the key fails.
``carried_tests`` carries what was promised of a source column to the relation that
holds it (each technique's ``carriers``); a ``RowScope`` leaves out what such a relation adds (older
versions, deleted rows, the unknown member).

``execution`` runs a plan on the source's own connection and checks every relation's columns and
types. ``parallel_sessions`` runs small builds and proofs next to each other.
"""
