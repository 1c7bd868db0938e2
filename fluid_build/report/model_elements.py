"""The elements of a model by kind: each with its facts, its reason and where it comes from."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias

from fluid_build.modeling.data_vault.business_elements import BusinessVault
from fluid_build.modeling.data_vault.elements import (
    DataVaultModel,
    HashKeyStrategy,
    HubReference,
    Satellite,
)
from fluid_build.modeling.dimensional.elements import (
    Dimension,
    DimensionalModel,
    DimensionReference,
    Fact,
    ScdType,
)
from fluid_build.modeling.element import DecidedElement, Element, SourceColumn
from fluid_build.modeling.logical import LogicalModel, Product, Technique
from fluid_build.text import listed
from fluid_build.transform.plan.elements import Renaming, TransformPlan

_TECHNIQUES: dict[Technique, str] = {
    "flat": "one table per entity, with names that are legal on every target",
    "data_vault_2": "a Data Vault 2.0 of hubs, links and satellites, loaded by inserts only",
    "dimensional": "facts at a stated grain, and the dimensions that describe them",
}


@dataclass(frozen=True, slots=True)
class Name:
    """A name inside prose, to be shown as such."""

    name: str


Prose: TypeAlias = tuple[str | Name, ...]
"""Text with names in it."""


def plain(prose: Prose) -> str:
    """Return prose as plain text."""
    return "".join(part.name if isinstance(part, Name) else part for part in prose)


@dataclass(frozen=True, slots=True)
class ElementView:
    """An element of the model. ``facts`` go with the headings of its group.

    ``source_columns`` are what it is made of, empty where the model has no such list of its own.
    ``query`` shows how to use it, where that isn't plain.
    """

    name: str
    facts: tuple[Prose, ...]
    reason: str
    source_columns: tuple[SourceColumn, ...] = ()
    query: str = ""


@dataclass(frozen=True, slots=True)
class ElementGroup:
    """Elements of one kind. ``headings`` name the kind, the facts and the reason.

    A heading that ends in ``#`` is one of numbers. ``title`` is empty where the group continues the
    one before it.
    """

    title: Prose
    text: str = ""
    headings: tuple[str, ...] = ()
    elements: tuple[ElementView, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelView:
    """A logical model. ``title`` and ``groups`` are empty for a flat one.

    ``relation_counts`` says how many relations of each kind are built; ``renamed`` are the names
    that had to change in more than their spelling. ``note`` says what was asked for in vain.
    ``product`` is what the data product is called, ``responsibility`` the sentence that says whose
    it is, empty where nobody decided. ``texts`` are what decisions say that elements are: each with
    its column and the text.
    """

    technique: Technique
    summary: str
    product: str = ""
    responsibility: str = ""
    texts: tuple[ElementView, ...] = ()
    variant: str = ""
    title: str = ""
    remark: Prose = ()
    groups: tuple[ElementGroup, ...] = ()
    relation_counts: tuple[tuple[str, int], ...] = ()
    renamed: tuple[Renaming, ...] = ()
    note: str = ""


def model_view(model: LogicalModel, plan: TransformPlan | None = None) -> ModelView:
    """Return the view of a model, with what its plan builds where there is one."""
    view = ModelView(
        texts=_texts(model),
        technique=model.technique,
        summary=_TECHNIQUES[model.technique],
        product=model.title,
        responsibility=_responsibility(model.product),
        relation_counts=() if plan is None else tuple(_relation_counts(model, plan)),
        renamed=() if plan is None else plan.renamed,
    )
    if (vault := model.dv2) is not None:
        business = () if vault.business_vault is None else _business_groups(vault.business_vault)
        groups = (*_vault_groups(vault), *business)
        return replace(
            view, title="The vault", remark=_hashing(vault), groups=groups, note=_note(vault)
        )
    if (star := model.dimensional) is not None:
        return replace(
            view,
            variant=star.variant,
            title=f"The {star.variant} model",
            remark=(star.variant_reason,) if star.variant_reason else (),
            groups=tuple(_dimensional_groups(star)),
        )
    return view


def _texts(model: LogicalModel) -> tuple[ElementView, ...]:
    return tuple(
        ElementView(text.element, ((Name(text.column),) if text.column else (),), text.text)
        for text in model.texts or ()
    )


def _declared_by(catalog: str | None) -> str:
    return f", as {catalog} declares" if catalog else ""


def _responsibility(product: Product | None) -> str:
    if product is None:
        return ""
    email = f" ({product.email})" if product.email else ""
    facts = [
        f"Domain: {product.domain}{_declared_by(product.domain_from)}." if product.domain else "",
        f"Owner: {product.team}{email}{_declared_by(product.owner_from)}." if product.team else "",
    ]
    return " ".join(filter(None, facts))


def _relation_counts(model: LogicalModel, plan: TransformPlan) -> Iterator[tuple[str, int]]:
    kinds = dict(relation_kinds(model))
    default = "table" if model.technique == "flat" else "relation"
    yield from Counter(kinds.get(build.name, default) for build in plan.published).items()


def relation_kinds(model: LogicalModel) -> Iterator[tuple[str, str]]:
    """Yield each relation of a technique's layer by its name, with its kind in words."""
    if model.dv2 is not None:
        yield from ((hub.name, "hub") for hub in model.dv2.hubs)
        for link in model.dv2.links:
            kind = "link" if link.link_type == "standard" else f"{link.link_type} link"
            yield link.name, kind
        yield from (
            (satellite.name, _satellite_kind(satellite)) for satellite in model.dv2.satellites
        )
        yield from ((table.name, "reference table") for table in model.dv2.reference_tables)
        yield from ((table.name, "keyless table") for table in model.dv2.keyless_tables)
        yield from _business_kinds(model.dv2.business_vault)
    if model.dimensional is not None:
        yield from ((fact.name, "fact") for fact in model.dimensional.facts)
        for dimension in model.dimensional.dimensions:
            yield dimension.name, "dimension"
            yield dimension.history, "version table"
        yield from ((bridge.name, "bridge") for bridge in model.dimensional.bridges)


def _business_kinds(business: BusinessVault | None) -> Iterator[tuple[str, str]]:
    if business is not None:
        yield business.calendar.name, "snapshot calendar"
        yield from ((table.name, "point-in-time table") for table in business.point_in_time_tables)
        yield from ((bridge.name, "bridge") for bridge in business.bridges)


def _satellite_kind(satellite: Satellite) -> str:
    if satellite.multi_active_keys:
        return "multi-active satellite"
    return "effectivity satellite" if satellite.kind == "effectivity" else "satellite"


def _hashing(vault: DataVaultModel) -> Prose:
    strategy = vault.hash_key_strategy
    return (
        f"Hash keys are {strategy.algorithm} hashes of the business key. Its parts are joined by ",
        Name(strategy.delimiter),
        ", a null part becomes ",
        Name(strategy.null_token),
        *_marks_in_parts(strategy),
    )


def _marks_in_parts(strategy: HashKeyStrategy) -> Iterator[str | Name]:
    """Yield what becomes of a part before it's hashed."""
    style = strategy.style
    if style is None or style.marks == "escaped":
        yield ", and special characters in a part are escaped with "
        yield Name(strategy.escape)
    elif style.marks == "replaced":
        yield ", and words replace both in a part, which is in quotes"
    else:
        yield ", and both stay as they are in a part"
    yield ". Parts are hashed in upper case." if strategy.case == "upper" else "."
    if style is not None and style.trim:
        yield " Blanks around a part are left out."


def _vault_groups(vault: DataVaultModel) -> Iterator[ElementGroup]:
    yield ElementGroup(
        ("Hubs",),
        headings=("Hub", "Business key", "Kind", "Why"),
        elements=tuple(
            _view(hub, hub.name, _names(hub.business_key_columns), (hub.business_key_kind,))
            for hub in vault.hubs
        ),
    )
    yield _shared_keys(vault)
    yield ElementGroup(
        ("Links",),
        headings=("Link", "Kind", "Hubs", "Dependent child keys", "Why"),
        elements=tuple(
            _view(
                link,
                link.name,
                (link.link_type,),
                _joined(map(_link_end, link.hubs)),
                _names(link.dependent_child_keys),
            )
            for link in vault.links
        ),
    )
    yield ElementGroup(
        ("Satellites",),
        headings=("Satellite", "Of", "From", "Columns#", "Multi-active by", "Changes", "Why"),
        elements=tuple(
            _view(
                satellite,
                satellite.name,
                (Name(satellite.parent),),
                (Name(satellite.table),),
                (str(len(satellite.columns)),),
                _names(satellite.multi_active_keys),
                (satellite.rate_of_change,),
            )
            for satellite in vault.satellites
        ),
    )
    yield ElementGroup(
        ("Reference and keyless tables",),
        headings=("Table", "From", "Key", "Why"),
        elements=(
            *(
                _view(table, table.name, (Name(table.table),), _names(table.key_columns))
                for table in vault.reference_tables
            ),
            *(
                _view(table, table.name, (Name(table.table),), ("the whole row",))
                for table in vault.keyless_tables
            ),
        ),
    )


def _note(vault: DataVaultModel) -> str:
    business = vault.business_vault
    if business is None or business.point_in_time_tables or business.bridges:
        return ""
    return "The business vault is empty: no hub has two satellites, and no chain has two links."


def _business_groups(business: BusinessVault) -> Iterator[ElementGroup]:
    calendar, tables, bridges = (
        business.calendar,
        business.point_in_time_tables,
        business.bridges,
    )
    if tables or bridges:
        yield ElementGroup(
            ("Snapshots",),
            headings=("Calendar", "Why"),
            elements=(_view(calendar, calendar.name),),
        )
    yield ElementGroup(
        ("Point-in-time tables",),
        text="" if tables else "No hub has two satellites or more.",
        headings=("Table", "Of", "Satellites", "Why"),
        elements=tuple(
            replace(
                _view(
                    table,
                    table.name,
                    (Name(table.hub),),
                    _names(satellite.satellite for satellite in table.satellites),
                ),
                query=table.query,
            )
            for table in tables
        ),
    )
    yield ElementGroup(
        ("Bridges",),
        text="" if bridges else "No chain has two links or more.",
        headings=("Bridge", "A row for each", "Links", "Why"),
        elements=tuple(
            replace(
                _view(
                    bridge,
                    bridge.name,
                    (Name(bridge.start),),
                    _names(dict.fromkeys(hop.link for hop in bridge.hops)),
                ),
                query=bridge.query,
            )
            for bridge in bridges
        ),
    )


def _shared_keys(vault: DataVaultModel) -> ElementGroup:
    """Return the keys that sources share: the evidence for common hubs and for same-as links."""
    matches = [
        (hub.name, match, "The values identify the same.")
        for hub in vault.hubs
        for match in hub.key_matches or ()
    ]
    matches += [
        (link.name, link.key_match, "The keys differ, but rows with the same value are the same.")
        for link in vault.links
        if link.key_match is not None
    ]
    return ElementGroup(
        ("Keys that sources share",),
        headings=("Hub or link", "Columns", "Values#", "In both#", "Counted by", "Why"),
        elements=tuple(
            ElementView(
                name,
                (
                    _names((f"{m.table}.{m.column}", f"{m.other_table}.{m.other_column}")),
                    (f"{m.keys:,} and {m.other_keys:,}",),
                    (f"{m.shared:,}",),
                    (Name(m.sql),),
                ),
                reason,
            )
            for name, m, reason in matches
        ),
    )


def _link_end(reference: HubReference) -> Prose:
    role: Prose = (" as ", Name(reference.role)) if reference.role else ()
    return (Name(reference.hub), *role)


def _dimensional_groups(model: DimensionalModel) -> Iterator[ElementGroup]:
    yield _bus_matrix(model)
    for fact in model.facts:
        yield from _fact_groups(fact)
    yield ElementGroup(
        ("Dimensions",),
        headings=("Dimension", "Kind", "Natural key", "Conformed", "Roles", "History", "Why"),
        elements=tuple(
            _view(
                dimension,
                dimension.name,
                (dimension.dimension_type,),
                _names(dimension.natural_key_columns),
                ("yes" if dimension.conformed else "no",),
                (", ".join(dimension.roles),),
                ("all versions" if dimension.history else "current values",),
            )
            for dimension in model.dimensions
        ),
    )
    described = [dimension for dimension in model.dimensions if dimension.entity_name]
    if described:
        yield ElementGroup(
            ("When a dimension's columns change",),
            text="SCD type 0 never changes, type 1 is overwritten, type 2 keeps all versions.",
            headings=("Dimension", "SCD type", "Columns", "Why"),
            elements=tuple(chain.from_iterable(map(_changes_of_columns, described))),
        )
    yield ElementGroup(
        ("Bridges",),
        headings=("Bridge", "Between", "And", "Why"),
        elements=tuple(
            _view(bridge, bridge.name, (Name(bridge.left),), (Name(bridge.right),))
            for bridge in model.bridges
        ),
    )
    yield ElementGroup(
        ("Tables that are left out",),
        text="What they hold is computed from another table." if model.left_out else "",
        headings=("Table", "Computed from", "Why"),
        elements=tuple(_view(table, table.name, (Name(table.detail),)) for table in model.left_out),
    )


def _changes_of_columns(dimension: Dimension) -> Iterator[ElementView]:
    """Return the columns of a dimension, those with the same type and reason together."""
    columns: dict[tuple[ScdType, str], list[str]] = defaultdict(list)
    for attribute in dimension.attributes:
        columns[attribute.scd_type, attribute.reason].append(attribute.name)
    for (scd_type, reason), names in sorted(columns.items(), key=lambda item: -item[0][0]):
        yield ElementView(dimension.name, ((str(scd_type),), _names(names)), reason)


def _bus_matrix(model: DimensionalModel) -> ElementGroup:
    """Return which facts share which dimensions; a dimension of a single fact joins none."""
    uses = [{reference.dimension for reference in fact.dimensions} for fact in model.facts]
    shared = [
        dimension.name
        for dimension in model.dimensions
        if sum(dimension.name in used for used in uses) > 1
    ]
    return ElementGroup(
        ("Bus matrix",),
        text="The facts, with the dimensions that several of them share." if shared else "",
        headings=("Fact", *shared, "Degenerate dimensions"),
        elements=tuple(
            ElementView(
                fact.name,
                tuple(("yes" if name in used else "",) for name in shared),
                ", ".join(fact.degenerate_dimensions),
            )
            for fact, used in zip(model.facts, uses, strict=True)
            if shared
        ),
    )


def _fact_groups(fact: Fact) -> Iterator[ElementGroup]:
    kind = fact.fact_type.replace("_", " ").capitalize()
    yield ElementGroup(
        (Name(fact.name),),
        text=" ".join((f"{kind} fact.", fact.grain, _why(fact), *_event_date(fact))),
        headings=("Dimension", "Role", "By", "Why"),
        elements=tuple(map(_dimension_reference, fact.dimensions)),
    )
    yield ElementGroup(
        (),
        headings=("Measure", "Aggregated by", "Additivity", "Why"),
        elements=tuple(
            _view(measure, measure.name, (measure.aggregation,), (measure.additivity,))
            for measure in fact.measures
        ),
    )


def _event_date(fact: Fact) -> Iterator[str]:
    """Return which date decides the versions of members, why, and how to choose another one."""
    date = fact.dated_by
    if fact.service_days is not None or fact.snapshot_of:
        return
    if date is None:
        yield "It has no date, so it refers to the last version of each member."
        return
    label = f"{date.source}.{date.attribute}" if date.source else date.attribute
    yield f"It refers to dimensions as they were at {label}. {date.reason}"
    if date.alternatives:
        yield (
            f"Another choice: --event-date {fact.entity_name}=DATE with"
            f" {listed(date.alternatives, 'or')}."
        )


def _dimension_reference(reference: DimensionReference) -> ElementView:
    facts = ((reference.role,), _names(reference.columns))
    return ElementView(reference.dimension, facts, reference.reason)


def _view(element: Element, name: str, *facts: Prose) -> ElementView:
    return ElementView(name, facts, _why(element), element.source_columns)


def _why(element: Element) -> str:
    """Return the reason for an element, and the choices that lost."""
    if not isinstance(element, DecidedElement):
        return element.reason
    choices = (f"Not {other.choice}: {other.reason}." for other in element.alternatives)
    return " ".join(filter(None, (element.reason, *choices)))


def _names(names: Iterable[str]) -> Prose:
    return _joined((Name(name),) for name in names)


def _joined(parts: Iterable[Prose]) -> Prose:
    """Return prose in a list, separated by commas."""
    return tuple(piece for part in parts for piece in (", ", *part))[1:]
