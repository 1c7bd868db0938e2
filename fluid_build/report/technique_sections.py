"""The part of ``MODEL.md`` that a technique adds: its elements, and why each is as it is."""

from collections.abc import Iterator

from fluid_build.markdown import code, codes, table, text
from fluid_build.modeling.data_vault.elements import DataVaultModel, Hub, HubReference
from fluid_build.modeling.dimensional.elements import DimensionalModel, Fact
from fluid_build.modeling.logical import LogicalModel

_TECHNIQUES = {
    "flat": "one table for one entity, with names that are legal everywhere",
    "data_vault_2": "a Data Vault 2.0 of hubs, links and satellites, loaded by inserting only",
    "dimensional": "facts at a stated grain, and the dimensions they are looked at by",
}


def technique_in_words(model: LogicalModel) -> str:
    """What a model's technique makes of a source."""
    return _TECHNIQUES[model.technique]


def layer_sections(model: LogicalModel) -> Iterator[str]:
    """The sections on the vault or on the dimensional model; none for a flat one."""
    if model.dv2 is not None:
        yield from _vault(model.dv2)
    if model.dimensional is not None:
        yield from _dimensional(model.dimensional)


def _vault(vault: DataVaultModel) -> Iterator[str]:
    strategy = vault.hash_key_strategy
    yield "## The vault"
    yield (
        f"Hash keys are {strategy.algorithm} over the business key, its parts joined by "
        f"{code(strategy.delimiter)}, a null part being {code(strategy.null_token)}; special "
        f"characters inside a part are preceded by {code(strategy.escape)}."
    )
    if vault.hubs:
        yield "### Hubs"
        yield table(("Hub", "Business key", "Kind", "Why"), [_hub(hub) for hub in vault.hubs])
    if vault.links:
        yield "### Links"
        rows = [
            (
                code(link.name),
                link.link_type,
                ", ".join(map(_end, link.hubs)),
                codes(link.dependent_child_keys),
                text(link.reason),
            )
            for link in vault.links
        ]
        yield table(("Link", "Kind", "Hubs", "Dependent child keys", "Why"), rows)
    yield from _satellites(vault)


def _hub(hub: Hub) -> tuple[str, ...]:
    key = codes(hub.business_key_columns)
    return code(hub.name), key, hub.business_key_kind, text(hub.reason)


def _end(reference: HubReference) -> str:
    role = f" as {code(reference.role)}" if reference.role else ""
    return f"{code(reference.hub)}{role}"


def _satellites(vault: DataVaultModel) -> Iterator[str]:
    if vault.satellites:
        yield "### Satellites"
        rows = [
            (
                code(one.name),
                code(one.parent),
                code(one.table),
                str(len(one.columns)),
                codes(one.multi_active_keys),
                one.rate_of_change,
                text(one.reason),
            )
            for one in vault.satellites
        ]
        headings = ("Satellite", "Of", "From", "Columns#", "Multi-active by", "Changes", "Why")
        yield table(headings, rows)
    others = [
        *(
            (one.name, one.table, codes(one.key_columns), one.reason)
            for one in vault.reference_tables
        ),
        *((one.name, one.table, "the whole row", one.reason) for one in vault.keyless_tables),
    ]
    if others:
        yield "### Reference and keyless tables"
        kept = [(code(name), code(of), key, text(why)) for name, of, key, why in others]
        yield table(("Table", "From", "Key", "Why"), kept)


def _dimensional(model: DimensionalModel) -> Iterator[str]:
    yield f"## The {model.variant} model"
    if model.variant_reason:
        yield text(model.variant_reason)
    for fact in model.facts:
        yield from _fact(fact)
    if model.dimensions:
        yield "### Dimensions"
        rows = [
            (
                code(one.name),
                one.dimension_type,
                codes(one.natural_key_columns),
                "yes" if one.conformed else "no",
                ", ".join(text(role) for role in one.roles),
                "versions are kept" if one.history else "as it is now",
                text(one.reason),
            )
            for one in model.dimensions
        ]
        headings = ("Dimension", "Kind", "Natural key", "Conformed", "Roles", "History", "Why")
        yield table(headings, rows)
    if model.bridges:
        yield "### Bridges"
        bridges = [
            (code(one.name), code(one.left), code(one.right), text(one.reason))
            for one in model.bridges
        ]
        yield table(("Bridge", "Between", "And", "Why"), bridges)


def _fact(fact: Fact) -> Iterator[str]:
    yield f"### {code(fact.name)}"
    kind = fact.fact_type.replace("_", " ").capitalize()
    yield f"{kind} fact. {text(fact.grain)} {text(fact.reason)}"
    if fact.dimensions:
        rows = [
            (code(one.dimension), text(one.role), codes(one.columns), text(one.reason))
            for one in fact.dimensions
        ]
        yield table(("Dimension", "Role", "By", "Why"), rows)
    if fact.measures:
        measures = [
            (code(one.name), one.aggregation, one.additivity, text(one.reason))
            for one in fact.measures
        ]
        yield table(("Measure", "Aggregated by", "Additivity", "Why"), measures)
