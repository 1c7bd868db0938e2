"""Links whose rows have an assigned number, although what they relate identifies them.

The number means nothing outside the source, and the next source doesn't know it. It stays in the
link's satellite.
"""

from collections.abc import Mapping
from dataclasses import replace

from fluid_build.modeling.alternate_keys import related_key
from fluid_build.modeling.conceptual import Entity
from fluid_build.modeling.data_vault.business_keys import is_surrogate
from fluid_build.modeling.data_vault.placements import Placement
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.element import Alternative
from fluid_build.text import listed


def with_related_keys(
    tables: SourceTables, placed: Mapping[str, Placement]
) -> tuple[SourceTables, dict[str, Placement]]:
    """Return tables and places in which the rows of links are known by what they relate."""
    identities, places = dict(tables.identities), dict(placed)
    for name, placement in placed.items():
        identity = identities[name]
        is_link = placement.kind in {"link", "transaction"} and not tables.referrers[name]
        if identity is None or not is_link or name in tables.decided_keys:
            continue
        columns = _related_columns(tables, placed, tables.entities[name])
        if not columns:
            continue
        number = listed(identity.attributes)
        identities[name] = identity.model_copy(update={"attributes": columns})
        reason = (
            f"{placement.reason} No two rows have the same {listed(columns)}, so that {number}"
            " isn't part of what the link is identified by."
        )
        alternative = Alternative(
            choice=f"told apart by {number}", reason="such a number means little outside the source"
        )
        places[name] = replace(
            placement, reason=reason, alternatives=(*placement.alternatives, alternative)
        )
    return replace(tables, identities=identities), places


def _related_columns(
    tables: SourceTables, placed: Mapping[str, Placement], entity: Entity
) -> tuple[str, ...]:
    """Return what identifies a table's rows besides an assigned number; () where nothing does.

    A code of a list doesn't: what happened to a container once may happen to it again.
    """
    identity = tables.identities[entity.name]
    references = [r for r in tables.references[entity.name] if placed[r.to_entity].has_hub]
    referring = {column for reference in references for column in reference.from_attributes}
    if identity is None or not referring.isdisjoint(identity.attributes):
        return ()
    if not is_surrogate(entity, identity):
        return ()
    return related_key(entity, tables.unique.get(entity.name, ()), references)
