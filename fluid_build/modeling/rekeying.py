"""Tables whose rows got another key: what came since is a table of its own in the model.

A key that changes can't be corrected in what was loaded by it: the same key would be another row.
So what was loaded stays under the earlier key, and the rows begin anew under the next one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from fluid_build.changes.keys import key_holds, key_repeats
from fluid_build.decisions.language import DECISION, SetKey
from fluid_build.modeling.basis import Basis
from fluid_build.modeling.element import ModelPart
from fluid_build.modeling.evolution import RekeyedTable
from fluid_build.modeling.identifiers import LONGEST_IDENTIFIER
from fluid_build.observations.observe import Observations
from fluid_build.profiling.profile import Profile, TableProfile
from fluid_build.text import free_name

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_QUERIES = frozenset({"sql", "query"})
"""Fields of observations that are asked of the source, and so have its own names."""


def newly_rekeyed(
    earlier: Basis, present: Profile, keys: Mapping[str, tuple[str, ...]]
) -> Iterator[RekeyedTable]:
    """Yield the tables that a decision gives another key, since their earlier one holds no more.

    ``present`` is the source's profile and ``keys`` are the decided keys, both by the names of the
    model. A key that still holds, and another one of columns that were there as well, are two ways
    to see the same rows: then the decision corrects the model, and nothing has changed.
    """
    now = {table.name: table for table in present.tables}
    used = {table.name for table in (*earlier.profile.tables, *present.tables)}
    arrived = {(c.table, c.column) for arrival in earlier.arrivals for c in arrival.columns}
    for table in earlier.profile.tables:
        key, before = keys.get(table.name), _key_before(earlier, table)
        if key is None or not before or table.name not in now or set(key) == set(before):
            continue
        known = {column.name for column in table.columns}
        is_of_new_columns = any(c not in known or (table.name, c) in arrived for c in key)
        if is_of_new_columns or not _still_holds(now[table.name], before):
            first = first_name(earlier.evolution.rekeyed_tables, table.name)
            name = free_name(first, used, LONGEST_IDENTIFIER)
            used.add(name)
            yield RekeyedTable(
                table=name,
                was=table.name,
                columns=before,
                repeats=_may_repeat(now[table.name], before),
            )


def first_name(rekeyed: Sequence[RekeyedTable], table: str) -> str:
    """Return what a table was called before its key changed for the first time."""
    was = {each.table: each.was for each in rekeyed}
    while table in was:
        table = was[table]
    return table


def _key_before(earlier: Basis, table: TableProfile) -> tuple[str, ...]:
    """Return the key that a table was designed with: a decided one, or else its own."""
    last = {r.table: r.now for r in earlier.evolution.renamed_tables}.get(table.name, table.name)
    columns = {c.now: c.column for c in earlier.evolution.renamed_columns if c.table == table.name}
    for text in earlier.decisions:
        decision = DECISION.validate_json(text)
        if isinstance(decision, SetKey) and decision.table == last:
            return tuple(columns.get(name, name) for name in decision.columns)
    return table.primary_key or ()


def _still_holds(now: TableProfile, key: tuple[str, ...]) -> bool:
    return {column.name for column in now.columns}.issuperset(key) and key_holds(now, key)


def _may_repeat(now: TableProfile, key: tuple[str, ...]) -> bool:
    """Return whether a value of the earlier key may mean several rows today."""
    if not {column.name for column in now.columns}.issuperset(key):
        return False
    return not key_holds(now, key) and key_repeats(now, key) != 0


def with_keys_before(profile: Profile, rekeyed: Sequence[RekeyedTable]) -> Profile:
    """Return a profile in which tables keep the keys that they were designed with.

    A decision on the key is on the present one from now on.
    """
    keys = {each.was: each.columns for each in rekeyed}

    def with_key(table: TableProfile) -> TableProfile:
        key = keys.get(table.name, table.primary_key)
        if key == table.primary_key:
            return table
        origin = {"primary_key_origin": "declared", "primary_key_evidence": None}
        return table.model_copy(update={"primary_key": key, **origin})

    tables = tuple(map(with_key, profile.tables))
    return profile.model_copy(update={"tables": tables})


def by_other_names(observations: Observations, names: Mapping[str, str]) -> Observations:
    """Return observations by other names of tables; what is asked of the source stays."""
    return replace(observations, **_changed(observations, names)) if names else observations


def _changed(value: object, names: Mapping[str, str]) -> dict[str, Any]:
    parts = (
        type(value).model_fields
        if isinstance(value, ModelPart)
        else [field.name for field in fields(cast("DataclassInstance", value))]
    )
    return {name: _renamed(getattr(value, name), names) for name in parts if name not in _QUERIES}


def _renamed(value: object, names: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, tuple | list | frozenset):
        return type(value)(_renamed(item, names) for item in value)
    if isinstance(value, ModelPart):
        return value.model_copy(update=_changed(value, names))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **_changed(value, names))
    return value
