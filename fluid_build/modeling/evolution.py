"""How a model came out of an earlier one: what the source dropped, added, retyped and renamed.

Relations that remember were loaded under the earlier model. What builds them reads here which of
their columns aren't read any more, and which the rows of earlier loads don't have.
"""

from fluid_build.modeling.element import ModelPart, SourceColumn

GONE = "The source no longer has it."
"""What the description of a column ends with that is loaded no more."""
EMPTIED = "The source no longer has it, and no row has a value."
"""The same of a column whose rows couldn't keep what they had."""
RETIRED = (
    "The source no longer has what it's loaded from: its rows stay as they were, and none are"
    " added."
)
"""What the description of a relation ends with that is loaded no more."""


class RenamedColumn(ModelPart):
    """A column that the source calls ``now``, and the model still ``column``."""

    table: str
    column: str
    now: str


class NarrowerColumn(ModelPart):
    """A column that the source has with the type ``now``, and the model with one that holds more.

    A type never gets narrower: rows of earlier loads may have what the narrower one doesn't hold.
    """

    table: str
    column: str
    now: str


class FirstType(ModelPart):
    """The type that a column had when it was first loaded: keys are hashed by how it's written."""

    table: str
    column: str
    type: str


class LaterColumn(ModelPart):
    """A column of a relation that was made before the column was a part of it."""

    relation: str
    column: str


class RenamedTable(ModelPart):
    """A table that the source calls ``now``, and the model still ``table``."""

    table: str
    now: str


class RekeyedTable(ModelPart):
    """A table whose rows have another key since: what came then is ``table`` of the model.

    What was loaded by the earlier key is ``was``, whose rows are told apart by ``columns``. Where a
    value of them ``repeats``, it no longer says which row is meant.
    """

    table: str
    was: str
    columns: tuple[str, ...]
    repeats: bool = False


class Otherwise(ModelPart):
    """What the present data alone would make of a table, and what it stays.

    ``kept`` and ``other`` are phrases (``a fact``), each with its reason.
    """

    table: str
    kept: str
    kept_reason: str = ""
    other: str
    other_reason: str = ""


class Evolution(ModelPart):
    """What of a model isn't as it was when its relations were first loaded.

    Tables and columns go by their names in the model, which keeps those of the first forge. The
    source has no ``retired_tables`` and ``retired_columns`` any more: their relations and columns
    stay and aren't loaded. ``added_columns`` joined a table later, in the order of their arrival.
    Because of what came, ``later_columns`` joined relations that remember, keys of new tables among
    them. ``retyped_columns`` have a wider type than rows that were loaded earlier, which had the
    ``first_types``, and the source has ``narrower_columns`` with another type than they're read as.
    ``rekeyed_tables`` are two tables of the model each, by their earlier key and by their present
    one. The ``redesigned_tables`` are designed anew, and rows of earlier loads had another design.
    ``otherwise`` are the judgements that the present data would settle differently. Of
    ``dated_tables`` somebody decided later from when their versions hold. ``seem_partial`` are
    tables that may have only what changed, each with a column of which every value is later than
    any before. ``newly_personal`` columns hold personal data by today's figures, and didn't when
    they were designed.
    """

    retired_tables: tuple[str, ...] = ()
    retired_columns: tuple[SourceColumn, ...] = ()
    added_columns: tuple[SourceColumn, ...] = ()
    later_columns: tuple[LaterColumn, ...] = ()
    retyped_columns: tuple[SourceColumn, ...] = ()
    first_types: tuple[FirstType, ...] = ()
    narrower_columns: tuple[NarrowerColumn, ...] = ()
    renamed_columns: tuple[RenamedColumn, ...] = ()
    renamed_tables: tuple[RenamedTable, ...] = ()
    dated_tables: tuple[str, ...] = ()
    rekeyed_tables: tuple[RekeyedTable, ...] = ()
    redesigned_tables: tuple[str, ...] = ()
    otherwise: tuple[Otherwise, ...] = ()
    seem_partial: tuple[SourceColumn, ...] = ()
    newly_personal: tuple[SourceColumn, ...] = ()

    def model_table(self, now: str) -> str:
        """Return what the model calls a table that the source calls ``now``."""
        return next((each.table for each in self.renamed_tables if each.now == now), now)

    def model_column(self, table: str, now: str) -> str:
        """Return what the model calls a column of its ``table`` that the source calls ``now``."""
        columns = (e.column for e in self.renamed_columns if (e.table, e.now) == (table, now))
        return next(columns, now)
