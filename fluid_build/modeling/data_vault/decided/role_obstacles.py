"""What keeps a table from the place in the vault that somebody decided for it.

A vault can carry most decisions, but not those that would lose what the draft holds: the keys of
rows, or how tables relate. Each obstacle is one sentence with its figure or the names.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from fluid_build.decisions.language import Role
from fluid_build.modeling.conceptual import Entity, Relationship
from fluid_build.modeling.data_vault.decided.references_through_links import is_seen_through
from fluid_build.modeling.data_vault.entity_evidence import happens_to_one
from fluid_build.modeling.data_vault.relating import ends, name_a_few, outward_references
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.data_vault.subtypes import extends
from fluid_build.text import counted, noun


@dataclass(frozen=True, slots=True)
class Places:
    """Where the tables around a decided one are.

    ``hubs`` are the tables whose rows are instances of a hub, their own or a supertype's.
    ``relating`` are the tables that become a link or describe a hub by a reference, each with the
    tables that its references lead to.
    """

    hubs: Set[str]
    relating: Mapping[str, Set[str]]


def role_obstacle(tables: SourceTables, places: Places, table: str, role: Role) -> str:
    """Return why a table can't have a role; "" where it can."""
    if role == "link":
        return _link_obstacle(tables, places, table)
    if not tables.identity(table):
        return f"No key identifies {_rows(tables.entities[table])}, and {_NEEDS_KEY[role]} has one."
    if role == "reference":
        return _reference_obstacle(tables, places, table)
    if role == "satellite" and described_parent(tables, places.hubs, table) is None:
        return _satellite_obstacle(tables, places, table)
    return ""


_NEEDS_KEY: Mapping[Role, str] = {
    "hub": "every hub",
    "satellite": "every satellite",
    "reference": "every reference table",
}


def described_parent(tables: SourceTables, hubs: Set[str], table: str) -> Relationship | None:
    """Return the reference to the single table that another describes; None without one.

    It's made of the whole key, or else it's the only reference, which each row has.
    """
    references = _references_to_hubs(tables, hubs, table)
    whole = [reference for reference in references if extends(tables, reference)]
    if whole:
        return max(whole, key=lambda r: (r.origin == "declared", tables.entities[r.to_entity].rows))
    return (
        references[0]
        if len(ends(references)) == 1
        and not tables.referrers[table]
        and not set(tables.identity(table)) <= set(references[0].from_attributes)
        and tables.is_complete(table, references[0].from_attributes)
        else None
    )


def _link_obstacle(tables: SourceTables, places: Places, table: str) -> str:
    related = ends(_references_to_hubs(tables, places.hubs, table))
    is_of_one = len(related) == 1 and happens_to_one(tables.entities[table], tables.identity(table))
    if len(related) < 2 and not is_of_one:
        names = _names(r.to_entity for r in related)
        led_to = f"one table with a hub, {names}" if related else "no table with a hub"
        return f"`{table}` refers to {led_to}, and a link needs two."
    referrers = _referrers(tables, table)
    if referrers and not is_seen_through(tables, table):
        return f"{_refer(referrers)} to `{table}`, and no link leads to another link."
    return ""


def _reference_obstacle(tables: SourceTables, places: Places, table: str) -> str:
    related = outward_references(tables, table)
    if related:
        names = _names(r.to_entity for r in related)
        return f"`{table}` refers to {names}, and a reference table holds no relationships."
    needed_by = [
        name
        for name in _referrers(tables, table)
        if table in places.relating.get(name, ()) and name != table
    ]
    if needed_by:
        verb = noun(len(needed_by), "relates", "relate")
        return f"{_names(needed_by)} {verb} its rows, and no link leads to a reference table."
    return ""


def _satellite_obstacle(tables: SourceTables, places: Places, table: str) -> str:
    references = _references_to_hubs(tables, places.hubs, table)
    parents = ends(references)
    if not parents:
        return f"`{table}` refers to no table with a hub, so it describes no hub."
    names = _names(r.to_entity for r in parents)
    if len(parents) > 1:
        return f"`{table}` refers to {names}, and a satellite describes a single hub."
    referrers = _referrers(tables, table)
    if referrers:
        return f"{_refer(referrers)} to `{table}`, which needs a hub of its own for that."
    entity, columns = tables.entities[table], parents[0].from_attributes
    nullable = next((c for c in columns if not entity.attribute(c).required), None)
    if nullable is None:
        return f"The key of `{table}` isn't written like the key of {names}."
    nulls = entity.attribute(nullable).evidence.nulls
    return (
        f"`{table}.{nullable}` is null in {nulls:,} of {counted(entity.rows, 'row')}, which would"
        f" describe no row of {names}."
    )


def _references_to_hubs(tables: SourceTables, hubs: Set[str], table: str) -> list[Relationship]:
    return [r for r in outward_references(tables, table) if r.to_entity in hubs - {table}]


def _referrers(tables: SourceTables, table: str) -> list[str]:
    return list(dict.fromkeys(r.from_entity for r in tables.referrers[table]))


def _refer(tables: list[str]) -> str:
    return f"{_names(tables)} {noun(len(tables), 'refers', 'refer')}"


def _rows(entity: Entity) -> str:
    return f"the {counted(entity.rows, 'row')} of `{entity.name}`"


def _names(tables: Iterable[str]) -> str:
    return name_a_few(f"`{table}`" for table in dict.fromkeys(tables))
