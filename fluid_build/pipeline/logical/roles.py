"""What a draft made of each table, in a word, with the choices that lost."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fluid_build.modeling.data_vault.elements import DataVaultModel
from fluid_build.modeling.dimensional.elements import DimensionalModel
from fluid_build.modeling.element import DecidedElement
from fluid_build.modeling.logical import LogicalModel


@dataclass(frozen=True, slots=True)
class TableRole:
    """What represents a table, what else could, and the business key of its hub."""

    label: str
    alternatives: tuple[str, ...] = ()
    business_key: tuple[str, ...] = ()


def roles_by_table(model: LogicalModel) -> Mapping[str, TableRole]:
    """Return the role of each table that a vault or star represents.

    A table that is only a part of another one's element has that element's role.
    """
    roles: dict[str, TableRole] = {}
    elements = list(_elements(model))
    for own_table, role, _ in elements:
        roles.setdefault(own_table, role)
    for _, role, element in elements:
        for table in element.mapped_source_tables:
            roles.setdefault(table, TableRole(f"part of a {role.label}", role.alternatives))
    return roles


def _elements(model: LogicalModel) -> Iterator[tuple[str, TableRole, DecidedElement]]:
    if model.dv2 is not None:
        yield from _vault_elements(model.dv2)
    if model.dimensional is not None:
        yield from _star_elements(model.dimensional)


def _vault_elements(vault: DataVaultModel) -> Iterator[tuple[str, TableRole, DecidedElement]]:
    for hub in vault.hubs:
        yield hub.entity_name, _role("hub", hub, hub.business_key_columns), hub
    for link in vault.links:
        yield link.table, _role("link", link), link
    for reference in vault.reference_tables:
        yield reference.table, _role("reference", reference), reference
    for satellite in vault.satellites:
        yield satellite.table, _role("satellite", satellite), satellite


def _star_elements(star: DimensionalModel) -> Iterator[tuple[str, TableRole, DecidedElement]]:
    for fact in star.facts:
        if not fact.snapshot_of:
            yield fact.entity_name, _role("fact", fact), fact
    for bridge in star.bridges:
        yield bridge.entity_name, _role("bridge", bridge), bridge
    for dimension in star.dimensions:
        yield dimension.entity_name, _role("dimension", dimension), dimension


def _role(label: str, element: DecidedElement, business_key: tuple[str, ...] = ()) -> TableRole:
    return TableRole(label, tuple(other.choice for other in element.alternatives), business_key)
