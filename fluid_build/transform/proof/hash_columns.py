"""The columns of hashes that can be made again from what their own rows hold.

The SQL is that of the load. The other hashes are made of what only the source has: a load made now
says whether those are right.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from fluid_build.modeling.data_vault.elements import Hub
from fluid_build.modeling.dimensional.elements import Dimension
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import sql_names
from fluid_build.transform.plan.data_vault.columns import row_key
from fluid_build.transform.plan.data_vault.histories import added_columns, hash_diff
from fluid_build.transform.plan.data_vault.sources import VaultSources, vault_sources
from fluid_build.transform.plan.dimensional.star import (
    UNKNOWN,
    Star,
    Typed,
    key_hash,
    natural_key,
    star_of,
    values_hash,
)
from fluid_build.transform.plan.dimensional.versions import versioned_attributes
from fluid_build.transform.plan.elements import PlanColumn
from fluid_build.transform.plan.hashing import exact, hashed, hashed_row, written_or_token, zero_key
from fluid_build.transform.plan.present_source import present_source
from fluid_build.transform.plan.staging import by_spelling, by_value, staging_builds


@dataclass(frozen=True, slots=True)
class HashColumn:
    """A column of a relation with the SQL that makes it of ``values``, columns of the same row.

    Rows with ``none`` in the column ``key`` are made by the load itself: they stand for "none".
    """

    relation: str
    name: str
    sql: str
    values: tuple[Typed, ...]
    key: str = ""
    none: str = ""

    @property
    def contradicted(self) -> str:
        """The condition that a row's hash isn't that of its values.

        A file keeps one of 0.0 and -0.0, which are equal and have different texts. Where a row has
        either, its hash may be that of the other.
        """
        zeros = (f"{name} IS DISTINCT FROM 0" for name, type_ in self.values if _is_float(type_))
        applies = [*zeros, *([f"{self.key} <> {self.none}"] if self.key else [])]
        return " AND ".join((f"{self.name} IS DISTINCT FROM {self.sql}", *applies))


def hash_columns(model: LogicalModel) -> tuple[HashColumn, ...]:
    """Return the hashes of a model's relations that follow from their own rows."""
    names, present = sql_names(model.conceptual), present_source(model)
    if model.dv2 is not None:
        staging = staging_builds(model.conceptual, names, by_spelling, present)
        hashes = tuple(_of_vault(vault_sources(model, names, staging, present)))
    elif model.dimensional is not None:
        staging = staging_builds(model.conceptual, names, by_value, present)
        hashes = tuple(_of_star(star_of(model, names, staging, present)))
    else:
        return ()
    added = model.column_names.replaced
    return tuple(replace(each, name=added.get(each.name, each.name)) for each in hashes)


def _of_vault(sources: VaultSources) -> Iterator[HashColumn]:
    vault = sources.vault
    none = zero_key(vault.hash_key_strategy)
    for hub in vault.hubs:
        yield from _of_hub(sources, hub, none)
    for satellite in vault.satellites:
        payload = sources.columns(satellite.table, satellite.columns)
        if payload and not _have_other_hashes(sources, satellite.table, satellite.columns):
            sql, name = hash_diff(sources, payload)
            yield HashColumn(satellite.name, name, sql, _typed(payload), satellite.hash_key, none)
    for codes in vault.reference_tables:
        payload = sources.columns(codes.table, codes.columns)
        if payload and not _have_other_hashes(sources, codes.table, codes.columns):
            sql, name = hash_diff(sources, payload)
            yield HashColumn(codes.name, name, sql, _typed(payload))
    for table, relation in sources.counted.items():
        staged = sources.staged[table].columns
        if len(relation.columns) == len(staged) and not sources.present.has_evolved(table):
            sql = _hash(_typed(staged), sources)
            yield HashColumn(relation.name, row_key(relation).name, sql, _typed(staged))


def _have_other_hashes(sources: VaultSources, table: str, columns: Sequence[str]) -> bool:
    """Whether rows of earlier loads were hashed with other columns or types."""
    is_wider = sources.present.have_other_hashes(table, columns)
    return is_wider or bool(added_columns(sources, table, columns))


def _of_hub(sources: VaultSources, hub: Hub, none: str) -> Iterator[HashColumn]:
    """Yield the hash key of a hub, unless a table writes the business key as another type."""
    key = sources.business_key(hub)
    types = [part.type for part in key]
    if all(
        [column.type for column in sources.columns(table, reference.columns)] == types
        and not sources.present.have_other_hashes(table, reference.columns)
        for table, reference in sources.feeds[hub.name]
    ):
        strategy = sources.vault.hash_key_strategy
        sql = hashed([written_or_token(*value, strategy) for value in _typed(key)], strategy)
        yield HashColumn(hub.name, hub.hash_key, sql, _typed(key), hub.hash_key, none)


def _hash(values: Iterable[Typed], sources: VaultSources) -> str:
    strategy = exact(sources.vault.hash_key_strategy)
    return hashed_row([written_or_token(*value, strategy) for value in values], strategy)


def _typed(columns: Sequence[PlanColumn]) -> tuple[Typed, ...]:
    return tuple((column.name, column.type) for column in columns)


def _of_star(star: Star) -> Iterator[HashColumn]:
    for dimension in star.model.dimensions:
        if not dimension.is_generated:
            yield from _of_dimension(star, dimension)


def _of_dimension(star: Star, dimension: Dimension) -> Iterator[HashColumn]:
    entity, surrogate = dimension.entity_name, dimension.surrogate_key

    def hash_of(name: str, sql: str, values: tuple[Typed, ...]) -> HashColumn:
        return HashColumn(dimension.name, name, sql, values, surrogate, UNKNOWN)

    if star.is_derived(dimension):
        values = tuple(
            (attribute.name, star.type(entity, attribute.attribute))
            for attribute in dimension.attributes
        )
        yield hash_of(surrogate, values_hash(values), values)
        return
    parts = natural_key(star, dimension)
    key = tuple(
        (name, star.type(entity, part.name))
        for name, part in zip(dimension.natural_key_columns, parts, strict=True)
    )
    yield hash_of(dimension.member_key, key_hash(key), key)
    if not dimension.history:
        return
    yield hash_of(surrogate, values_hash([*key, ("valid_from", "TIMESTAMP")]), key)
    names = [attribute.attribute for attribute in versioned_attributes(dimension)]
    if star.present.have_other_hashes(entity, names) or star.present.joined_later(entity, names):
        return  # Earlier versions were hashed with other columns or types.
    versioned = tuple((star.column(entity, name), star.type(entity, name)) for name in names)
    yield HashColumn(dimension.history, "row_hash", values_hash(versioned), versioned)


def _is_float(type_: str) -> bool:
    return type_ in {"FLOAT", "DOUBLE"}
