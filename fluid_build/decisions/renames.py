"""The earlier names that decisions give to what the source calls otherwise now."""

from collections.abc import Iterable

from fluid_build.changes.renames import Renames
from fluid_build.decisions.language import AnyDecision, Renamed


def renames(decisions: Iterable[AnyDecision]) -> Renames:
    """Return the earlier names of tables, and of columns by (new table, new column).

    ``decisions`` are those that apply (``verdicts.applied``).
    """
    said = [decision for decision in decisions if isinstance(decision, Renamed)]
    same = [each for each in said if each.is_renamed]
    return Renames(
        tables={each.table: each.was for each in same if each.column is None},
        columns={(each.table, each.column): each.was for each in same if each.column is not None},
        apart=frozenset(
            (each.table, each.column, each.was) for each in said if not each.is_renamed
        ),
    )
