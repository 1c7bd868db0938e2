"""What a person names on the command line: tables and columns of a folder, elements of its model.

Names may have dots and blanks, so that they are looked up: the longest table that fits is meant.
Parts in double quotes are taken as they are: ``"my table"."a,b"``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fluid_build.errors import UsageError
from fluid_build.forging import MODEL_FILE
from fluid_build.modeling.conceptual import Entity
from fluid_build.modeling.element_columns import relation_names
from fluid_build.modeling.evolution import Evolution
from fluid_build.modeling.logical import LogicalModel
from fluid_build.profiling.checks import DEFAULT_SCHEMAS
from fluid_build.text import did_you_mean, listed_up_to
from fluid_build.transform.proof.manifest import MANIFEST_FILE
from fluid_build.verification.untrusted_model import read_model

_QUOTED_NAME = re.compile(r'"(?:[^"]|"")+"')
_PART = re.compile(rf'({_QUOTED_NAME.pattern})|([^",.]+)')
_MOST_NAMES = 8


@dataclass(frozen=True, slots=True)
class FolderNames:
    """The columns of a folder's tables, and the elements of its model.

    ``other_names`` are the tables by names that mean one of them only, with or without its schema,
    in lower case. ``is_known`` is False for a folder without a model: any name may be right there.
    """

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    elements: tuple[str, ...] = ()
    is_known: bool = True
    other_names: Mapping[str, str] = field(default_factory=dict)


UNKNOWN_NAMES = FolderNames(is_known=False)


@dataclass(frozen=True, slots=True)
class DecisionTarget:
    """A table, a column of it, or an element of the model."""

    table: str | None = None
    column: str | None = None
    element: str | None = None


def folder_model(folder: Path) -> LogicalModel | None:
    """Return the model of a folder, None where nothing was forged there yet."""
    return read_model(folder / MODEL_FILE) if (folder / MANIFEST_FILE).exists() else None


def folder_names(model: LogicalModel | None) -> FolderNames:
    """Return the names that decisions about a model may use: those of the model, and of today."""
    if model is None:
        return UNKNOWN_NAMES
    evolution = model.evolution or Evolution()
    renamed = evolution.renamed_columns
    columns: dict[str, tuple[str, ...]] = {
        entity.name: (
            *(attribute.name for attribute in entity.attributes),
            *(each.now for each in renamed if each.table == entity.name),
        )
        for entity in model.conceptual.entities
    }
    for rekeyed in reversed(evolution.rekeyed_tables):
        # The source calls both as the first one.
        later = columns.pop(rekeyed.table, ())
        if rekeyed.was in columns:
            columns[rekeyed.was] = tuple(dict.fromkeys((*columns[rekeyed.was], *later)))
    return FolderNames(
        columns, _element_names(model), other_names=_other_names(model.conceptual.entities)
    )


def _other_names(entities: Sequence[Entity]) -> Mapping[str, str]:
    tables_by_name: dict[str, set[str]] = {}
    for entity in entities:
        for name in _names_at_source(entity):
            tables_by_name.setdefault(name.casefold(), set()).add(entity.name)
    own = {entity.name.casefold() for entity in entities}
    return {
        name: next(iter(tables))
        for name, tables in tables_by_name.items()
        if len(tables) == 1 and name not in own
    }


def _names_at_source(entity: Entity) -> Iterator[str]:
    """Return the names of an entity's table, with its schema and without."""
    parts = [_unquoted(part) for part in _QUOTED_NAME.findall(entity.place)]
    table = parts[-1] if parts else entity.own_name
    yield table
    if len(parts) > 1:
        yield f"{parts[-2]}.{table}"
    else:
        yield from (f"{schema}.{table}" for schema in sorted(DEFAULT_SCHEMAS) if schema)


def _element_names(model: LogicalModel) -> tuple[str, ...]:
    names: list[str] = []
    if model.dv2 is not None:
        names += sorted(model.dv2.relation_names)
    if model.dimensional is not None:
        star = model.dimensional
        names += [fact.name for fact in star.facts]
        names += [dimension.name for dimension in star.dimensions]
        names += [bridge.name for bridge in star.bridges]
    return tuple(names)


def table_of(text: str, names: FolderNames) -> str:
    """Return the table that a text names; raise UsageError where there is none."""
    name = _unquoted(text)
    if not names.is_known:
        return name
    table = _table_named(name, names)
    if table is None:
        raise _unknown("table", name, [*names.columns])
    return table


def columns_of(table: str, texts: Sequence[str], names: FolderNames) -> tuple[str, ...]:
    """Return columns of a table, each named by itself; raise UsageError for an unknown one."""
    return tuple(_column(table, _unquoted(text), names) for text in texts)


def key_columns_of(table: str, texts: Sequence[str], names: FolderNames) -> tuple[str, ...]:
    """Return columns that may have come since the last forge: a key is measured on the source."""
    known = names.columns.get(table, ())
    return tuple(_exact(_unquoted(text), known) or _unquoted(text) for text in texts)


def new_reference_of(text: str, names: FolderNames) -> tuple[str, tuple[str, ...]]:
    """Return a table and columns as ``reference_of`` does; they may have come since the forge."""
    table, remainder = _split(text, names)
    whole = _exact(_unquoted(remainder), names.columns.get(table, ()))
    if whole is not None or not remainder:
        return reference_of(text, names)
    return table, key_columns_of(table, _parts(remainder), names)


def reference_of(text: str, names: FolderNames) -> tuple[str, tuple[str, ...]]:
    """Return the table and the columns of ``TABLE.COLUMN`` or ``TABLE.COLUMN,COLUMN``."""
    table, remainder = _split(text, names)
    if not remainder:
        raise UsageError(
            f"{text!r} names no column.", hint="Write it as TABLE.COLUMN, such as orders.total."
        )
    whole = _exact(_unquoted(remainder), names.columns.get(table, ()))
    if whole is not None:
        return table, (whole,)
    return table, tuple(_column(table, part, names) for part in _parts(remainder))


def column_of(text: str, names: FolderNames) -> tuple[str, str]:
    """Return the table and the only column of ``TABLE.COLUMN``."""
    table, columns = reference_of(text, names)
    if len(columns) != 1:
        raise UsageError(f"{text!r} names several columns.", hint="Name a single column.")
    return table, columns[0]


def target_of(text: str, names: FolderNames, *, is_element: bool) -> DecisionTarget:
    """Return what a text names: an element if asked for, a table, a column or else an element."""
    name = _unquoted(text)
    if is_element:
        element = _exact(name, names.elements)
        if names.is_known and element is None:
            raise _unknown("element", name, names.elements)
        return DecisionTarget(element=element or name)
    if not names.is_known:
        parts = name.rsplit(".", 1)
        return DecisionTarget(table=parts[0], column=parts[1] if len(parts) > 1 else None)
    table = _exact(name, names.columns)
    if table is not None:
        return DecisionTarget(table=table)
    element = _exact(name, names.elements)
    if element is not None:
        return DecisionTarget(element=element)
    table = _table_named(name, names)
    if table is not None:
        return DecisionTarget(table=table)
    if "." not in text:
        raise _unknown("table or element", name, [*names.columns, *names.elements])
    table, column = column_of(text, names)
    return DecisionTarget(table=table, column=column)


def new_name_of(text: str) -> str:
    """Return a name that the model doesn't have yet, without the quotes around it."""
    return _unquoted(text)


def relations_of(texts: Sequence[str], model: LogicalModel | None) -> tuple[str, ...]:
    """Return relations of the model; raise UsageError for one that it doesn't have."""
    if model is None:
        return tuple(texts)
    known = relation_names(model)
    exact = {text: _exact(text, known) for text in texts}
    for text, name in exact.items():
        if name is None:
            raise _unknown("element", text, known)
    return tuple(name for name in exact.values() if name is not None)


def _split(text: str, names: FolderNames) -> tuple[str, str]:
    """Return the table that a reference starts with, and what comes behind its dot."""
    if text.startswith('"'):
        end = _QUOTED_NAME.match(text)
        if end is None:
            raise UsageError(f"{text!r} has an open quote.", hint='Close it: "my table".column.')
        return table_of(end[0], names), text[end.end() + 1 :]
    if not names.is_known:
        table, _, columns = text.rpartition(".")
        return (table, columns) if table else (text, "")
    folded = text.casefold()
    tables = [table for table in names.columns if folded.startswith(f"{table.casefold()}.")]
    if tables:
        # An exact spelling beats another case of the same length.
        table = max(tables, key=lambda name: (len(name), text.startswith(name)))
        return table, text[len(table) + 1 :]
    others = [name for name in names.other_names if folded.startswith(f"{name}.")]
    if others:
        name = max(others, key=len)
        return names.other_names[name], text[len(name) + 1 :]
    alone = _table_named(text, names)
    if alone is not None:
        return alone, ""
    raise _unknown("table", text.rpartition(".")[0] or text, [*names.columns])


def _parts(text: str) -> list[str]:
    """Return the names in a list of columns."""
    if '"' not in text:
        return [part.strip() for part in text.split(",") if part.strip()]
    return [_unquoted(match[1]) if match[1] else match[2] for match in _PART.finditer(text)]


def _column(table: str, name: str, names: FolderNames) -> str:
    if not names.is_known:
        return name
    columns = names.columns[table]
    column = _exact(name, columns)
    if column is None:
        raise UsageError(
            f"{table} has no column {name!r}.",
            hint=f"{did_you_mean(name, columns)}Its columns: {_name_list(columns)}.",
        )
    return column


def _exact(name: str, names: Sequence[str] | Mapping[str, object]) -> str | None:
    """Return the one of the names that is spelled so, or the only one that is but for its case."""
    if name in names:
        return name
    alike = [exact for exact in names if exact.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None


def _table_named(name: str, names: FolderNames) -> str | None:
    """Return the table that a name means, with its schema or without; None where none is meant."""
    return _exact(name, names.columns) or names.other_names.get(name.casefold())


def _unknown(noun: str, name: str, names: Sequence[str]) -> UsageError:
    return UsageError(
        f"There's no {noun} {name!r}.",
        hint=f"{did_you_mean(name, names)}There are: {_name_list(names)}.",
    )


def _name_list(names: Sequence[str]) -> str:
    return listed_up_to(_MOST_NAMES, names) or "none"


def _unquoted(text: str) -> str:
    """Return a name without the quotes around it; several quoted names stay as they are."""
    is_quoted = _QUOTED_NAME.fullmatch(text)
    return text[1:-1].replace('""', '"') if is_quoted else text
