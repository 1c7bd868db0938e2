"""The way in which rows with a history are loaded: what is new, what changed, what is gone.

Rows are only ever added. What a load added last for a key says how things stand: as it reads, or
gone. That is one row, unless the key has stopped being one: then it is all of the key's rows, which
are compared, and added, together. So no row is dropped, the test of the key fails, and loading the
same rows again adds nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.modeling.sql_names import free_identifier
from fluid_build.transform.plan.elements import LOAD_DATE

_INDENT = "    "


@dataclass(frozen=True, slots=True)
class History:
    """A relation with a history, by its columns.

    ``keys`` identify what the history is of; the one that is a ``hash`` is never null.
    ``compared`` is the column that differs where a row has changed, None where a row is just there
    or not. ``carried`` are the others, which a row on a deletion takes over; ``emptied`` has the
    SQL of those that it does not.
    """

    name: str
    keys: tuple[str, ...]
    compared: str | None
    carried: tuple[str, ...]
    hash: str = ""
    emptied: tuple[tuple[str, str], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns in order."""
        technical = ("load_date", "record_source", "is_deleted")
        return (*self.keys[:1], *technical, *self.told, *self.keys[1:], *self.carried)

    @property
    def told(self) -> tuple[str, ...]:
        """The column that is compared, if there is one."""
        return (self.compared,) if self.compared else ()


def loading(history: History, arriving: str) -> str:
    """The SQL of all rows that arrive; ``arriving`` selects them with the history's columns."""
    listed = f",\n{_INDENT}".join(f"arriving.{column}" for column in history.columns)
    return f"WITH arriving AS (\n{arriving}\n)\nSELECT\n{_INDENT}{listed}\nFROM arriving"


def changes(history: History) -> str:
    """What follows ``loading`` so that only new, changed and deleted rows come out."""
    recency = free_identifier("recency", history.columns)
    names = _Figures.of(history)
    arriving = (
        f"{_INDENT}SELECT\n{_INDENT * 2}{names.selected(history)}\n{_INDENT}FROM arriving\n"
        f"{_INDENT}GROUP BY {', '.join(history.keys)}"
    )
    standing = (
        f"{_INDENT}SELECT\n{_INDENT * 2}{names.selected(history)}\n{_INDENT}FROM (\n"
        f"{ranked(history, (*history.keys, 'is_deleted', *history.told), recency, _INDENT * 2)}\n"
        f"{_INDENT}) AS history\n{_INDENT}WHERE\n{_INDENT * 2}{recency} = 1\n"
        f"{_INDENT * 2}AND NOT is_deleted\n{_INDENT}GROUP BY {', '.join(history.keys)}"
    )
    differs = [f"standing.{names.rows} IS NULL"]
    differs += [f"standing.{name} <> held.{name}" for name in names.all]
    return (
        f"JOIN (\n{arriving}\n) AS held\n{_INDENT}ON {_same(history, 'held', _INDENT)}\n"
        f"LEFT JOIN (\n{standing}\n) AS standing\n{_INDENT}ON "
        f"{_same(history, 'standing', _INDENT)}\nWHERE\n{_INDENT}"
        + f"\n{_INDENT}OR ".join(differs)
        + f"\nUNION ALL\n{_deleted(history, recency)}"
    )


@dataclass(frozen=True, slots=True)
class _Figures:
    """What the rows of a key are compared by: how many they are, and what the outer ones say.

    Of one row that is all there is to it. Several are a broken key, which a test tells of.
    """

    rows: str
    bounds: tuple[str, ...]

    @staticmethod
    def of(history: History) -> "_Figures":
        """The figures of a history, under names that none of its columns has."""
        bounds = ("first_told", "last_told") if history.compared else ()
        return _Figures(
            free_identifier("rows_told", history.columns),
            tuple(free_identifier(name, history.columns) for name in bounds),
        )

    @property
    def all(self) -> tuple[str, ...]:
        """All of them."""
        return (self.rows, *self.bounds)

    def selected(self, history: History) -> str:
        """The keys and the figures, as a select list of a query that groups by the keys."""
        figures = [*history.keys, f"COUNT(*) AS {self.rows}"]
        for function, name in zip(("MIN", "MAX"), self.bounds, strict=False):
            figures.append(f"{function}({history.compared}) AS {name}")
        return f",\n{_INDENT * 2}".join(figures)


def ranked(history: History, columns: Sequence[str], recency: str, indent: str) -> str:
    """A select of columns of all rows, with how recent each is: 1 for the last of its key."""
    selected = f",\n{indent}{_INDENT}".join(columns)
    return (
        f"{indent}SELECT\n{indent}{_INDENT}{selected},\n{indent}{_INDENT}RANK() OVER (\n"
        f"{indent}{_INDENT * 2}PARTITION BY {', '.join(history.keys)}\n"
        f"{indent}{_INDENT * 2}ORDER BY load_date DESC\n{indent}{_INDENT}) AS {recency}\n"
        f"{indent}FROM model.{history.name}"
    )


def current(history: History, columns: Sequence[str], indent: str) -> str:
    """A select of columns of the rows that stand: the last of each key, if it is not gone."""
    recency = free_identifier("recency", history.columns)
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
    same = _same(history, "latest", _INDENT * 3)
    return (
        f"SELECT\n{_INDENT}{selected}\nFROM (\n{ranked(history, known, recency, _INDENT)}\n"
        f") AS latest\nWHERE\n{_INDENT}latest.{recency} = 1\n{_INDENT}AND NOT latest.is_deleted\n"
        f"{_INDENT}AND NOT EXISTS (\n{_INDENT * 2}SELECT 1\n{_INDENT * 2}FROM arriving\n"
        f"{_INDENT * 2}WHERE\n{_INDENT * 3}{same}\n{_INDENT})"
    )


def _same(history: History, alias: str, indent: str) -> str:
    """The condition that a row and an arriving one have the same key."""
    conditions = [
        f"{alias}.{column} {'=' if column == history.hash else 'IS NOT DISTINCT FROM'}"
        f" arriving.{column}"
        for column in history.keys
    ]
    return f"\n{indent}AND ".join(conditions)
