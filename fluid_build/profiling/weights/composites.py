"""The weights of foreign keys of several columns."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CompositeWeights:
    """The judgement of a foreign key of several columns, in log odds unless it says otherwise."""

    start: float = -4.0
    """Before anything is known; as for one column, and the columns were already paired by name."""

    name: float = 5.5
    """For names that all agree: with ``start`` 1.5, less than for one column, since accidental
    groups of agreeing names are common (``year``, ``month``)."""

    orphans: float = -25.0
    """For the share of orphans: 5 % cost 1.25, all that equal names have above ``accepted``."""

    evidence: float = 0.05
    """For each matching tuple and each nat of how thinly the keys fill their space. Small, since
    the tuples of a detail table repeat its parent's columns."""

    evidence_most: float = 3.0
    """At most this for all tuples."""

    no_own_column: float = -0.5
    """If every column of the key refers elsewhere itself (a bridge): its pairs are less its own."""

    unnamed_parent: float = -4.0
    """If nothing in the child's name or in the key's own columns says the parent's name: tables of
    one grain agree in their keys without referring to each other."""

    related_parent: float = -1.0
    """Instead if the tables' names share a word (``shop_returns``, ``shop_sales``) and the key
    has a column of its own."""

    bridge: float = -3.0
    """Instead if the parent is a bridge, and the child has several rows for many of its pairs: what
    is in stock, who attends a class."""

    bridge_rows: float = 2.0
    """The rows for each pair from which that applies; parallel facts have one or little more."""

    bridge_coverage: float = 0.25
    """The share of the bridge's pairs from which it applies."""

    single: float = 1.5
    """If a column of the child refers by itself to its key column, which is then unique, too."""

    child_key: float = -4.5
    """If the columns are a key of the child too and cover the parent: two tables of one grain, and
    nothing says which refers to which."""

    child_key_coverage: float = 0.95
    """The coverage from which that applies."""

    child_key_subset: float = -1.5
    """If they are a key of the child but leave parents out: it may be an optional detail."""

    child_key_same_names: float = -0.5
    """The same with equal names, as in a detail table that shares its parent's key."""

    same_names: float = 0.95
    """The average name score from which all names are equal."""

    date: float = -1.5
    """If a date is part of the key: dates match between any two daily tables."""

    column_taken: float = -0.7
    """For each column that another composite reference of the child uses already."""

    least_share: float = 0.9
    """The share of rows that must match; dirt beyond is too rare to search for."""

    least_probed: float = 0.75
    """The share of sampled tuples that must match before all rows are measured."""

    accepted: float = 0.3
    """The log odds from which a reference is reported (57 %), as for one column."""
