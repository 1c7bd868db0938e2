"""A model under other conventions than the default ones: what its relations and keys are called."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from fluid_build.decisions.conventions import ColumnNames, Conventions, Hashing, Prefixes
from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.data_vault.elements import (
    DataVaultModel,
    HashKeyStrategy,
    Hub,
    HubReference,
    Link,
    ReferenceTable,
    Satellite,
)
from fluid_build.modeling.dimensional.elements import DimensionalModel
from fluid_build.modeling.element import with_relation_names
from fluid_build.modeling.sql_names import (
    RESERVED,
    TECHNICAL,
    SqlNames,
    fit,
    free_identifier,
    sql_names,
)

_USED_BY_LOADS = frozenset(
    """
    arriving candidate history incoming known latest occurrence precedence promised_recency ranked
    rank_of_row recency row_count lowest highest snapshot_date staged stored
    """.split()
)
"""Names that the SQL of loads uses for itself."""
_OWN_KEY = re.compile(r"(?P<stem>.+)_(?P<kind>hk|lk)(?P<number>_\d+)?")
_Keyed = TypeVar("_Keyed", Hub, HubReference, Link, Satellite)


def clash(conceptual: ConceptualModel, columns: ColumnNames) -> str:
    """Return why columns can't be called so beside those of the source; "" where they can."""
    return next(_clashes(conceptual, columns), "")


def _clashes(conceptual: ConceptualModel, columns: ColumnNames) -> Iterator[str]:
    others = TECHNICAL - {*columns.replaced}
    of_source = sql_names(conceptual).columns
    for default, name in columns.replaced.items():
        change = f"Choose another name for `{default}`."
        if name in RESERVED:
            yield f"`{name}` is reserved on a target. {change}"
        elif name in others or name in _USED_BY_LOADS:
            yield f"`{name}` is a name that loads use themselves. {change}"
        for table, names in of_source.items():
            for attribute, column in names.items():
                if column == name:
                    yield (
                        f"`{table}.{attribute}` is called `{name}` already. {change[:-1]}, or"
                        f" rename that column."
                    )


def hash_key_strategy(hashing: Hashing) -> HashKeyStrategy:
    """Return how the keys of a vault are hashed."""
    shared = {"function", "separator", "null_token", "case"}
    return HashKeyStrategy(
        algorithm=hashing.function,
        delimiter=hashing.separator,
        null_token=hashing.null_token,
        case=hashing.case,
        style=hashing if hashing.given - shared else None,
    )


def named_vault(
    vault: DataVaultModel, conceptual: ConceptualModel, conventions: Conventions
) -> DataVaultModel:
    """Return a raw vault whose relations and hash keys are called as the conventions say."""
    names = sql_names(conceptual)
    relations = _relations(vault.relation_names, names, conventions.prefixes)
    vault = with_relation_names(vault, relations)
    key = _key_names(vault, names, conventions.columns)
    arranged = _arranged(names) if conventions.hashing.hash_diff_order == "name" else _as_it_is

    def named(part: _Keyed) -> _Keyed:
        return part.model_copy(update={"hash_key": key(part.hash_key)})

    def satellite(part: Satellite) -> Satellite:
        via = None if part.via is None else named(part.via)
        return arranged(named(part).model_copy(update={"via": via}))

    def link(part: Link) -> Link:
        return named(part).model_copy(update={"hubs": tuple(map(named, part.hubs))})

    return vault.model_copy(
        update={
            "hubs": tuple(map(named, vault.hubs)),
            "links": tuple(map(link, vault.links)),
            "satellites": tuple(map(satellite, vault.satellites)),
            "reference_tables": tuple(map(arranged, vault.reference_tables)),
        }
    )


def named_star(
    star: DimensionalModel, conceptual: ConceptualModel, prefixes: Prefixes
) -> DimensionalModel:
    """Return a star whose relations are called as the conventions say."""
    return with_relation_names(
        star, _relations(star.relation_names, sql_names(conceptual), prefixes)
    )


def _relations(own_names: Iterable[str], names: SqlNames, prefixes: Prefixes) -> dict[str, str]:
    """Return the new name of each relation by the one that it has by default."""
    used = {prefixes.relation(name) for name in names.stagings.values()}
    relations: dict[str, str] = {}
    for name in sorted(own_names):
        new_name = free_identifier(fit(prefixes.relation(name)), used)
        used.add(new_name)
        relations[name] = new_name
    return {name: new for name, new in relations.items() if name != new}


def _key_names(
    vault: DataVaultModel, names: SqlNames, columns: ColumnNames
) -> Callable[[str], str]:
    """Return what gives the new name of a hash key; no column of any table has it."""
    used = {*TECHNICAL, *RESERVED, *columns.replaced.values()}
    used |= {column for table in names.columns.values() for column in table.values()}
    own = [
        *(hub.hash_key for hub in vault.hubs),
        *(link.hash_key for link in vault.links),
        *(hub.hash_key for link in vault.links for hub in link.hubs),
        *(each.via.hash_key for each in vault.satellites if each.via is not None),
    ]
    new_names: dict[str, str] = {}
    for name in dict.fromkeys(own):
        found = _OWN_KEY.fullmatch(name)
        assert found is not None, "hash keys are called by our own pattern"
        is_hub = found["kind"] == "hk"
        pattern = columns.hub_key if is_hub else columns.link_key
        new = fit(pattern.replace("<name>", found["stem"])) + (found["number"] or "")
        if new in used:
            # A hub and a link may share a stem, and the conventions call their keys alike.
            kind = "hub" if is_hub else "link"
            new = fit(pattern.replace("<name>", f"{found['stem']}_{kind}"))
        new_names[name] = free_identifier(new, used)
        used.add(new_names[name])
    return lambda name: new_names[name]


_Described = TypeVar("_Described", Satellite, ReferenceTable)


def _as_it_is(part: _Described) -> _Described:
    return part


def _arranged(names: SqlNames) -> Callable[[_Described], _Described]:
    """Return what puts the columns that describe into the order of their names."""

    def arranged(part: _Described) -> _Described:
        columns = sorted(part.columns, key=lambda name: names.column(part.table, name))
        return part.model_copy(update={"columns": tuple(columns)})

    return arranged
