"""Insert-only loading: which rows of a relation are new, which changed, which are gone.

A relation with a history only ever gets rows added. The rows that the last load added for a key
are its current state, unless they say that the source no longer had it. That's one row, as long as
the key holds. Once several rows share a key, all of them are compared and added together: no row
is dropped, the key's test fails, and loading the same rows again adds nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.modeling.sql_names import free_identifier
from fluid_build.transform.plan.elements import LOAD_DATE
from fluid_build.transform.plan.sql_layout import (
    Column,
    conditions,
    exists,
    indent,
    join,
    nested,
    query,
    with_ctes,
)


@dataclass(frozen=True, slots=True)
class History:
    """An insert-only relation by its columns, ``load_date`` and ``is_deleted`` among them.

    ``keys`` identify what has a history; ``hash_key`` is the one of them that is never null.
    ``grouped_by`` is the SQL that windows group them by.
    ``compared`` is the column that differs where a row has changed, None where a row can only be
    there or not. A row on a deletion repeats the last known values, except for ``on_deletion``:
    columns with the SQL of their value then. ``ghost`` is the SQL of the ghost record's hash key,
    "" where there's none. The ghost record counts as deleted, so that it's never a current row.
    """

    name: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    grouped_by: tuple[str, ...]
    compared: str | None
    hash_key: str = ""
    on_deletion: tuple[tuple[str, str], ...] = ()
    ghost: str = ""

    @property
    def recency(self) -> str:
        """The name for how recent a row is, 1 for the last load of its key."""
        return free_identifier("recency", self.columns)


def all_rows(history: History, arriving: str) -> str:
    """Return the SQL of the first load; ``arriving`` selects the history's columns."""
    columns = [f"arriving.{column}" for column in history.columns]
    return with_ctes([("arriving", arriving)], query(columns, "arriving"))


def only_changes(history: History) -> str:
    """Return the SQL that follows ``all_rows`` to select only new, changed and deleted rows."""
    summary = _summary(history)
    changed = [f"stored.{name} <> incoming.{name}" for _, name in summary]
    columns: list[Column] = [*history.keys, *summary]
    incoming = query(columns, "arriving", group_by=history.keys)
    read = (*history.keys, *filter(None, (history.compared,)))
    is_known = f"NOT is_deleted OR {history.hash_key} = {history.ghost}" if history.ghost else ""
    stored = _last_loads(history, columns, read, is_known, group_by=history.keys)
    return "\n".join(
        (
            join("JOIN", nested(incoming), "incoming", _same_key(history, "incoming")),
            join("LEFT JOIN", nested(stored), "stored", _same_key(history, "stored")),
            f"WHERE\n{conditions([f'stored.{summary[0][1]} IS NULL', *changed], 'OR')}",
            f"UNION ALL\n{_deletions(history)}",
        )
    )


def current_rows(history: History, columns: Sequence[str]) -> str:
    """Return a select of columns of the current rows: the last of each key that isn't deleted."""
    return _last_loads(history, columns, columns)


def only_new(relation: str, key: str, arriving: str) -> str:
    """Return the SQL that follows a WHERE to leave out rows with a key that the relation has."""
    return indent(f"AND NOT {exists(f'{relation} AS known', [f'known.{key} = {arriving}.{key}'])}")


def _summary(history: History) -> list[tuple[str, str]]:
    """Return what the rows of a key are compared by, with names that no column has.

    For a single row, the lowest and highest value are its value. Several rows are a broken key,
    which a test reports; for them it's enough that the same rows give the same summary.
    """
    functions = [("COUNT(*)", "row_count")]
    if history.compared:
        functions += [
            (f"MIN({history.compared})", "lowest"),
            (f"MAX({history.compared})", "highest"),
        ]
    return [(function, free_identifier(name, history.columns)) for function, name in functions]


def _last_loads(
    history: History,
    columns: Sequence[Column],
    read: Sequence[str],
    is_known: str = "",
    *,
    group_by: Sequence[str] = (),
) -> str:
    """Return a select from the rows that the last load of each key added, unless it's deleted.

    ``read`` are the columns of the relation that ``columns`` are made of. ``is_known`` replaces the
    condition that a row isn't deleted.
    """
    where = (f"{history.recency} = 1", f"({is_known})" if is_known else "NOT is_deleted")
    return query(
        columns, f"{nested(_ranked(history, read))} AS history", where=where, group_by=group_by
    )


def _ranked(history: History, columns: Sequence[str]) -> str:
    """Return a select of columns of all rows, with how recent each is."""
    by_load = f"PARTITION BY {', '.join(history.grouped_by)} ORDER BY load_date DESC"
    rank = (f"RANK() OVER ({by_load})", history.recency)
    return query([*dict.fromkeys((*columns, "is_deleted")), rank], f"model.{history.name}")


def _deletions(history: History) -> str:
    """Return a row for each key that the source no longer has, with its last known values."""
    values = {"load_date": LOAD_DATE, "is_deleted": "TRUE", **dict(history.on_deletion)}
    arrived = exists("arriving", _same_key(history, "latest"))
    return query(
        [(values.get(column, f"latest.{column}"), column) for column in history.columns],
        f"{nested(_ranked(history, history.columns))} AS latest",
        where=(f"latest.{history.recency} = 1", "NOT latest.is_deleted", f"NOT {arrived}"),
    )


def _same_key(history: History, alias: str) -> list[str]:
    """Return the conditions that a row has the key of an arriving one, nulls included."""
    return [
        f"{alias}.{column} {'=' if column == history.hash_key else 'IS NOT DISTINCT FROM'}"
        f" arriving.{column}"
        for column in history.keys
    ]
