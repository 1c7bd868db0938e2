"""The weights of keys: where to search, and which candidate is the primary key."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeySearchWeights:
    """Which columns are searched for keys first; scores without a unit that only rank.

    They are added to ``key_form`` (0 to 1, by type and values).
    """

    key_word: float = 0.6
    """If the name has a key word: key columns of several are codes and numbers with such names."""

    distinguishing: float = 0.5
    """For a line number, a version or a date, which make a key of several columns unique."""

    unlikely: float = -0.8
    """For an amount or a description: it differs between rows by chance."""

    shared_name: float = 0.25
    """For each other table that has a column of this name: keys are repeated where they're used."""

    shared_name_most: int = 3
    """Tables that count; names such as ``status`` recur too."""

    early: float = 0.4
    """For the first column, falling to nothing for the last: people put keys first."""


@dataclass(frozen=True, slots=True)
class PrimaryKeyWeights:
    """Which candidate key is the primary key; scores without a unit that only rank.

    ``key_form`` (0 to 1, by type and values) is what a name's words are weighed against.
    """

    own_key: float = 1.6
    """If a single column is named for its table: counts most, beyond any type."""

    key_word: float = 0.6
    """If a single column has a key word: beats a better type (integer over text is 0.2)."""

    first_column: float = 0.5
    """If it is the first column, where people put keys."""

    second_column: float = 0.2
    """If it is the second one, after a load date or a tenant."""

    first_of_few_rows: float = 0.4
    """On top if there are few rows: nearly every column is unique then, and the place says most."""

    surrogate: float = 1.1
    """On top if it takes every number from the first to the last and has a key word: a surrogate
    key, even next to a column called ``code``."""

    habit: float = 3.0
    """If many tables begin with a unique column of this name: the habit of one system says more
    than that another column is named for its table."""

    named_reference: float = -3.0
    """If its name says that it's a foreign key."""

    technical: float = -1.4
    """For a UUID after the first column: systems exchange it, and people use the key before it."""

    unlikely_word: float = -0.8
    """For a name that says description, amount, e-mail, timestamp: unique, but not what rows are
    known by. It outweighs the key word."""

    label: float = -0.3
    """For a name or a title: not what a key is for, but known to everyone."""

    temporal: float = -0.6
    """For a date or time: unique by chance while there are few rows."""

    clear_single: float = 1.2
    """The score from which a single column is chosen before references are known: an integer in
    one of the first two places needs no name, elsewhere it needs a key word."""

    fair_single: float = 0.5
    """The score from which a single column is chosen if nothing better turned up."""

    referred: float = 0.7
    """For the logarithm of one more than the columns that refer to it: two of them (0.8) outweigh
    that it is called a name or a description."""

    named_for: float = 2.0
    """For the logarithm of one more than the columns of other tables that are named for the table
    and hold its values: of several unique columns, it's the one that is meant by the table."""

    repeated: float = 0.35
    """For each other table that repeats a key of several columns and holds its values."""

    clear_composite: float = 0.8
    """The average score from which several columns are chosen, whatever else is unique."""

    fair_composite: float = 0.5
    """The same if no single column is unique: the rows must be told apart by something."""

    column: float = 0.6
    """Of several columns: factor on the form of each."""

    column_reference: float = 1.2
    """Of several columns: for one that refers to a parent, as those of bridges and details do."""

    column_key_word: float = 0.7
    """Of several columns: for one with a key word that refers to nothing."""

    column_line: float = 1.3
    """Of several columns: for a line number, which exists only to make a key complete."""

    column_ordinal: float = 0.6
    """Of several columns: for a word such as ``position`` or ``version``, which may also be an
    attribute."""

    column_date: float = 0.3
    """Of several columns: for a date, which distinguishes the rows of a history."""

    column_numbers_rows: float = 0.6
    """Of several columns: for one that counts from one for each value of the others, as line
    numbers do, whatever its name says."""

    column_language: float = 0.6
    """Of several columns: for the language of a translated text."""

    leading_columns: float = 0.5
    """If the key is the first columns of its table, where people put keys; as for one column."""

    more_columns: float = -0.25
    """For each column beyond two: of two keys, the shorter one is meant."""

    later_column: float = -0.03
    """For each place that the columns lie from the front, on average; it only breaks ties."""
