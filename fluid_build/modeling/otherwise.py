"""What a model that follows on an earlier one says of it: what it keeps, and what else it could be.

Figures that moved change no element. Where today's data alone would settle a judgement differently,
that's a question, and whoever wants the other answer asks for a new design of that table.
"""

import shlex
from collections.abc import Iterator, Sequence

from fluid_build.errors import unknown_name
from fluid_build.modeling.basis import LooserReference
from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.continuity import reference_of
from fluid_build.modeling.data_vault.elements import DataVaultModel
from fluid_build.modeling.dimensional.elements import DimensionalModel
from fluid_build.modeling.dimensional.growth import broken_joins
from fluid_build.modeling.element_columns import element_tables
from fluid_build.modeling.evolution import Evolution, Otherwise
from fluid_build.modeling.logical import LogicalModel
from fluid_build.text import listed

_Place = tuple[str, str]
"""What a table is, as a phrase, and why."""


def judged_otherwise(kept: LogicalModel, fresh: LogicalModel) -> tuple[Otherwise, ...]:
    """Return the tables of which a design of today's data alone would make something else.

    Where the source has only a part of a table, today's data alone says nothing.
    """
    if kept.deliveries:
        return ()
    now = _places(fresh)
    return tuple(
        Otherwise(
            table=table,
            kept=phrase,
            kept_reason=reason,
            other=now[table][0],
            other_reason=now[table][1],
        )
        for table, (phrase, reason) in _places(kept).items()
        if table in now and now[table][0] != phrase
    )


def with_otherwise(model: LogicalModel, otherwise: tuple[Otherwise, ...]) -> LogicalModel:
    """Return the model with the judgements that today's data would settle differently."""
    evolution = (model.evolution or Evolution()).model_copy(update={"otherwise": otherwise})
    return model.model_copy(update={"evolution": evolution if evolution != Evolution() else None})


def tables_of_elements(model: LogicalModel, names: Sequence[str]) -> frozenset[str]:
    """Return the tables that relations of these names are made of; a name may be a table's own.

    Raises UsageError for a name that the model doesn't have.
    """
    tables = {entity.name: entity.name for entity in model.conceptual.entities}
    known = {**element_tables(model), **tables}
    for name in names:
        if name not in known:
            raise unknown_name("element of the model", name, sorted(known))
    return frozenset(known[name] for name in names)


def looser_references(model: LogicalModel) -> list[LooserReference]:
    """Return the references by which a star would leave rows out today, with their figures."""
    if model.dimensional is None:
        return []
    return [
        LooserReference(reference=reference_of(broken), evidence=broken.evidence)
        for broken in broken_joins(model.dimensional, model.conceptual)
    ]


def evolution_notes(model: LogicalModel) -> Iterator[str]:
    """Yield how a model follows on the earlier one, in sentences."""
    evolution = model.evolution
    if evolution is None:
        return
    if evolution.retired_tables:
        yield (
            f"The source has {listed(evolution.retired_tables)} no longer: what was loaded of it"
            " stays, and nothing more is loaded."
        )
    if evolution.retired_columns:
        names = listed(f"{each.table}.{each.column}" for each in evolution.retired_columns)
        yield f"The source has {names} no longer: the model keeps it, and nothing more is loaded."
    for each in evolution.otherwise:
        yield (
            f"{each.table} stays {each.kept}, as in the earlier model; by today's data alone it"
            f" would be {each.other}. --redesign {shlex.quote(each.table)} follows that."
        )


def _places(model: LogicalModel) -> dict[str, _Place]:
    if model.dv2 is not None:
        return _places_in_vault(model.dv2)
    if model.dimensional is not None:
        return _places_in_star(model.dimensional)
    return _places_of_keys(model.conceptual)


def _places_in_vault(vault: DataVaultModel) -> dict[str, _Place]:
    of_hub = {hub.name: hub.entity_name for hub in vault.hubs}
    places: dict[str, _Place] = {}
    for satellite in vault.satellites:
        if satellite.parent in of_hub:
            of = of_hub[satellite.parent]
            places.setdefault(satellite.table, (f"a satellite of {of}", satellite.reason))
    hubs = {hub.entity_name for hub in vault.hubs}
    for link in vault.links:
        if link.table not in hubs:
            kind = "a transactional link" if link.link_type == "transactional" else "a link"
            places[link.table] = (kind, link.reason)
    for table in vault.reference_tables:
        places[table.table] = ("a reference table", table.reason)
    for keyless in vault.keyless_tables:
        places[keyless.table] = ("a table stored as it is", keyless.reason)
    for hub in reversed(vault.hubs):
        keyed = f"a hub keyed by {listed(hub.business_key_columns)}"
        places[hub.entity_name] = (keyed, hub.reason)
    return places


def _places_in_star(star: DimensionalModel) -> dict[str, _Place]:
    places: dict[str, _Place] = {}
    for dimension in star.dimensions:
        if dimension.entity_name and dimension.dimension_type not in {"junk", "mini"}:
            is_date = dimension.dimension_type == "date"
            phrase = "a calendar" if is_date else "a dimension"
            places[dimension.entity_name] = (phrase, dimension.reason)
    for bridge in star.bridges:
        if bridge.entity_name:
            places[bridge.entity_name] = ("a bridge", bridge.reason)
    for fact in star.facts:
        if not fact.snapshot_of and fact.service_days is None:
            kind = fact.fact_type.replace("_", " ")
            article = "an" if kind[0] in "aeiou" else "a"
            phrase = "a factless fact" if kind == "factless" else f"{article} {kind} fact"
            places[fact.entity_name] = (phrase, fact.reason)
    return places


def _places_of_keys(conceptual: ConceptualModel) -> dict[str, _Place]:
    return {
        entity.name: (f"a table keyed by {listed(key.attributes)}", key.reason)
        if (key := entity.primary_key) is not None
        else ("a table without a key", entity.reason)
        for entity in conceptual.entities
    }
