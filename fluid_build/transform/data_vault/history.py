"""The way in which rows with a history are loaded: what is new, what changed, what is gone.

Rows are only ever added. The last row of a key says how things stand: as it reads, or gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.modeling.sql_names import free_name
from fluid_build.transform.plan import LOAD_DATE

_INDENT = "    "


@dataclass(frozen=True, slots=True)
class History:
    """A relation with a history, by its columns.

    ``keys`` identify what the history is of; ``compared`` is the column that differs where a row
    has changed, None where a row is just there or not. ``carried`` are the others, which a row on a
    deletion takes over; ``emptied`` has the SQL of those that it does not.
    """

    name: str
    keys: tuple[str, ...]
    compared: str | None
    carried: tuple[str, ...]
    emptied: tuple[tuple[str, str], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns in order."""
        told = (self.compared,) if self.compared else ()
        return (*self.keys[:1], "load_date", "record_source", "is_deleted", *told, *self._rest)

    @property
    def _rest(self) -> tuple[str, ...]:
        return (*self.keys[1:], *self.carried)


def loading(history: History, arriving: str) -> str:
    """The SQL of all rows that arrive; ``arriving`` selects them with the history's columns."""
    listed = f",\n{_INDENT}".join(f"arriving.{column}" for column in history.columns)
    return f"WITH arriving AS (\n{arriving}\n)\nSELECT\n{_INDENT}{listed}\nFROM arriving"


def changes(history: History) -> str:
    """What follows ``loading`` so that only new, changed and deleted rows come out."""
    told = (history.compared,) if history.compared else ()
    conditions = [f"latest.{history.keys[0]} IS NULL", "latest.is_deleted"]
    conditions += [f"latest.{column} <> arriving.{column}" for column in told]
    known = (*history.keys, "is_deleted", *told)
    recency = free_name("recency", history.columns)
    return (
        f"LEFT JOIN (\n{ranked(history, known, recency, _INDENT)}\n) AS latest\n{_INDENT}ON "
        + f"\n{_INDENT}AND ".join((*_same(history, "latest"), f"latest.{recency} = 1"))
        + f"\nWHERE\n{_INDENT}"
        + f"\n{_INDENT}OR ".join(conditions)
        + f"\nUNION ALL\n{_deleted(history, recency)}"
    )


def ranked(history: History, columns: Sequence[str], recency: str, indent: str) -> str:
    """A select of columns of all rows, with how recent each is: 1 for the last of its key."""
    selected = f",\n{indent}{_INDENT}".join(columns)
    return (
        f"{indent}SELECT\n{indent}{_INDENT}{selected},\n{indent}{_INDENT}ROW_NUMBER() OVER (\n"
        f"{indent}{_INDENT * 2}PARTITION BY {', '.join(history.keys)}\n"
        f"{indent}{_INDENT * 2}ORDER BY load_date DESC\n{indent}{_INDENT}) AS {recency}\n"
        f"{indent}FROM model.{history.name}"
    )


def current(history: History, columns: Sequence[str], indent: str) -> str:
    """A select of columns of the rows that stand: the last of each key, if it is not gone."""
    recency = free_name("recency", history.columns)
    known = tuple(dict.fromkeys((*columns, "is_deleted")))
    listed = f",\n{indent}{_INDENT}".join(columns)
    return (
        f"{indent}SELECT\n{indent}{_INDENT}{listed}\n{indent}FROM (\n"
        f"{ranked(history, known, recency, indent + _INDENT)}\n{indent}) AS history\n"
        f"{indent}WHERE\n{indent}{_INDENT}{recency} = 1\n{indent}{_INDENT}AND NOT is_deleted"
    )


def _deleted(history: History, recency: str) -> str:
    """The rows that the source no longer has, each with what was last known of it."""
    given = {"load_date": LOAD_DATE, "is_deleted": "TRUE", **dict(history.emptied)}
    selected = f",\n{_INDENT}".join(
        f"{given[column]} AS {column}" if column in given else f"latest.{column}"
        for column in history.columns
    )
    known = tuple(column for column in history.columns if column != "load_date")
    same = f"\n{_INDENT * 3}AND ".join(_same(history, "latest"))
    return (
        f"SELECT\n{_INDENT}{selected}\nFROM (\n{ranked(history, known, recency, _INDENT)}\n"
        f") AS latest\nWHERE\n{_INDENT}latest.{recency} = 1\n{_INDENT}AND NOT latest.is_deleted\n"
        f"{_INDENT}AND NOT EXISTS (\n{_INDENT * 2}SELECT 1\n{_INDENT * 2}FROM arriving\n"
        f"{_INDENT * 2}WHERE\n{_INDENT * 3}{same}\n{_INDENT})"
    )


def _same(history: History, alias: str) -> list[str]:
    return [f"{alias}.{column} = arriving.{column}" for column in history.keys]
