"""The tables of which decisions say that a source has only a part at a time."""

from collections.abc import Iterable

from fluid_build.decisions.language import AnyDecision, SetDelivery


def partial_tables(decisions: Iterable[AnyDecision]) -> frozenset[str]:
    """Return the tables whose deliveries aren't whole, by the names that they have now.

    ``decisions`` are those that apply (``verdicts.applied``).
    """
    kinds = {each.table: each.delivers for each in decisions if isinstance(each, SetDelivery)}
    return frozenset(table for table, kind in kinds.items() if kind != "full")
