"""Relations that only ever get rows added: what is read of them, and what a load has to know.

The rows that the last load added for a key are its current state, unless they say that the source
no longer had it. That's one row, as long as the key holds. How such a relation is loaded is said by
the macros (``macros/history.sql``).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.modeling.sql_names import free_identifier
from fluid_build.transform.plan.elements import Filling
from fluid_build.transform.plan.sql_layout import nested, query


@dataclass(frozen=True, slots=True)
class History:
    """An insert-only relation by its columns, ``load_date`` and ``is_deleted`` among them.

    ``keys`` identify what has a history; ``hash_key`` is the one of them that is never null.
    ``grouped_by`` is the SQL that windows group them by.
    """

    name: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    grouped_by: tuple[str, ...]
    hash_key: str = ""

    @property
    def surplus(self) -> str:
        """What the load calls a column of its own, if the relation has one of its usual name."""
        name = free_identifier("surplus", self.columns)
        return "" if name == "surplus" else name


def filling(rows: str, keys: Sequence[str], columns: Sequence[str]) -> Filling | None:
    """Return how open rows take the values of columns that joined a history; None without any."""
    return Filling(rows=rows, keys=tuple(keys), columns=tuple(columns)) if columns else None


def current_rows(history: History, columns: Sequence[str]) -> str:
    """Return a select of columns of the current rows: the last of each key that isn't deleted."""
    recency = free_identifier("recency", history.columns)
    by_load = f"PARTITION BY {', '.join(history.grouped_by)} ORDER BY load_date DESC"
    ranked = query(
        [*dict.fromkeys((*columns, "is_deleted")), (f"RANK() OVER ({by_load})", recency)],
        f"model.{history.name}",
    )
    return query(
        columns, f"{nested(ranked)} AS history", where=(f"{recency} = 1", "NOT is_deleted")
    )
