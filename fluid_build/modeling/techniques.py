"""The techniques by name, and how each makes a logical model of a profile."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import get_args

from fluid_build.decisions.conventions import DEFAULT_CONVENTIONS, Conventions
from fluid_build.decisions.language import AnyDecision, Rename
from fluid_build.decisions.model_decisions import NO_DECISIONS, ModelDecisions
from fluid_build.decisions.verdicts import Refusal
from fluid_build.errors import UsageError, unknown_name
from fluid_build.modeling.basis import Arrival
from fluid_build.modeling.conceptual import ConceptualModel, Entity
from fluid_build.modeling.continuity import (
    Continuity,
    DesignInput,
    grown_conceptual,
    reference_of,
    star_with_claims,
    vault_with_claims,
    with_claims_of_today,
)
from fluid_build.modeling.conventions import clash, hash_key_strategy, named_star, named_vault
from fluid_build.modeling.data_vault import growth as vault_growth
from fluid_build.modeling.data_vault.builder import data_vault
from fluid_build.modeling.data_vault.business_vault import with_business_vault
from fluid_build.modeling.data_vault.elements import DataVaultModel
from fluid_build.modeling.data_vault.further_links import with_further_links
from fluid_build.modeling.data_vault.rekeyed_hubs import with_same_as_links
from fluid_build.modeling.data_vault.remaining import has_all_but
from fluid_build.modeling.data_vault.source_overlaps import open_questions
from fluid_build.modeling.decided_elements import (
    ElementDecisions,
    element_decisions,
    with_descriptions,
    with_texts,
)
from fluid_build.modeling.dimensional import growth as star_growth
from fluid_build.modeling.dimensional.builder import star
from fluid_build.modeling.dimensional.dimensions.merges import with_merges, without_unused_merges
from fluid_build.modeling.dimensional.dimensions.text_keys import keep_text_keys
from fluid_build.modeling.dimensional.elements import (
    DEFAULT_CALENDAR,
    CalendarSettings,
    DimensionalModel,
    Variant,
)
from fluid_build.modeling.dimensional.judging.entity_roles import judged_events
from fluid_build.modeling.dimensional.judging.reference_graph import reference_graph
from fluid_build.modeling.dimensional.star_layout import check_variant
from fluid_build.modeling.element import SourceColumn, source_columns, with_relation_names
from fluid_build.modeling.entities import conceptual_model
from fluid_build.modeling.evolution import Evolution, RekeyedTable
from fluid_build.modeling.identifiers import identifier
from fluid_build.modeling.logical import (
    ElementText,
    LogicalModel,
    PartialDelivery,
    Product,
    Technique,
)
from fluid_build.modeling.semantic_layer import semantic_layer
from fluid_build.modeling.validity import validities
from fluid_build.observations.contradicted_references import without_contradicted
from fluid_build.observations.observe import NO_OBSERVATIONS, Observations
from fluid_build.observations.repeated_references import without_repeated
from fluid_build.profiling.profile import Profile
from fluid_build.sources.declarations.catalog_facts import CatalogFacts

# The names that decisions give to tables and columns, and those that can't be given.


@dataclass(frozen=True, slots=True)
class DecidedNames:
    """Renamings of tables and of columns that apply, and why others don't.

    Columns are by their table and their own name.
    """

    tables: Mapping[str, Rename]
    columns: Mapping[tuple[str, str], Rename]
    refusals: Mapping[Rename, Refusal]


def decided_names(conceptual: ConceptualModel, renamings: Iterable[Rename]) -> DecidedNames:
    """Return the names that tables and columns get; of two for the same, the later one counts.

    A name is refused where another table of the source, or another column of its table, has it
    once all renamings are done. So two tables may swap their names.
    """
    tables: dict[str, Rename] = {}
    columns: dict[str, dict[str, Rename]] = defaultdict(dict)
    refusals: dict[Rename, Refusal] = {}
    for renaming in renamings:
        if renaming.table is None:
            continue
        requested = tables if renaming.column is None else columns[renaming.table]
        name = renaming.column or renaming.table
        if requested.get(name, renaming) != renaming:
            refusals[requested[name]] = Refusal("unused", "A later decision renames it again.")
        requested[name] = renaming

    def refuse_table(renaming: Rename, owner: str) -> None:
        message = f"The table `{owner}` has the name `{renaming.new_name}` already."
        refusals[renaming] = Refusal("refused", message)

    def refuse_column(renaming: Rename, owner: str) -> None:
        message = f"`{renaming.table}.{owner}` has the name `{renaming.new_name}` already."
        refusals[renaming] = Refusal("refused", message)

    entities = {entity.name: entity for entity in conceptual.entities}
    settled = {
        (table, column): renaming
        for table, requested in columns.items()
        if table in entities
        for column, renaming in _settled(
            [attribute.name for attribute in entities[table].attributes], requested, refuse_column
        ).items()
    }
    return DecidedNames(_settled([*entities], tables, refuse_table), settled, refusals)


def with_decided_names(conceptual: ConceptualModel, names: DecidedNames) -> ConceptualModel:
    """Return the conceptual layer with the decided names."""
    if not names.tables and not names.columns:
        return conceptual
    entities = tuple(_with_names(entity, names) for entity in conceptual.entities)
    return conceptual.model_copy(update={"entities": entities})


def _with_names(entity: Entity, names: DecidedNames) -> Entity:
    of_table = names.tables.get(entity.name)
    attributes = tuple(
        attribute.model_copy(update={"new_name": renaming.new_name})
        if (renaming := names.columns.get((entity.name, attribute.name))) is not None
        else attribute
        for attribute in entity.attributes
    )
    new_name = entity.new_name if of_table is None else of_table.new_name
    return entity.model_copy(update={"new_name": new_name, "attributes": attributes})


def _settled(
    names: Sequence[str], requested: Mapping[str, Rename], refuse: Callable[[Rename, str], None]
) -> dict[str, Rename]:
    """Return the renamings after which no two names are the same; the others are refused.

    Names are compared as identifiers, since that's how relations are named.
    """
    settled = {name: requested[name] for name in requested if name in names}
    while True:
        owners: dict[str, list[str]] = defaultdict(list)
        for name in names:
            label = settled[name].new_name if name in settled else name
            owners[identifier(label)].append(name)
        clashes = [clash for group in owners.values() for clash in _clashes(group, settled)]
        if not clashes:
            return settled
        for name, owner in clashes:
            refuse(settled.pop(name), owner)


def _clashes(group: Sequence[str], settled: Mapping[str, Rename]) -> list[tuple[str, str]]:
    """Return the renamed ones that clash, each with the one that keeps the name."""
    renamed = [name for name in settled if name in group]
    keepers = [name for name in group if name not in settled] or renamed[:1]
    return [(name, keepers[0]) for name in renamed if name not in keepers]


TECHNIQUES: tuple[Technique, ...] = get_args(Technique)
COMBINING: frozenset[Technique] = frozenset({"data_vault_2"})
"""Techniques that bring several sources together: by their business keys."""
ALIASES: Mapping[str, Technique] = {
    "data_vault": "data_vault_2",
    "datavault": "data_vault_2",
    "dv": "data_vault_2",
    "dv2": "data_vault_2",
    "kimball": "dimensional",
    "star": "dimensional",
    "vault": "data_vault_2",
}


def check_technique(
    technique: str,
    variant: str | None = None,
    calendar: CalendarSettings = DEFAULT_CALENDAR,
    *,
    business_vault: bool = False,
) -> tuple[Technique, Variant | None]:
    """Return the technique and the variant of these names.

    Raises UsageError for an unknown one, for settings that a technique has no calendar for, and for
    a business vault where there's no vault.
    """
    checked = _checked_technique(technique)
    if business_vault and checked != "data_vault_2":
        raise UsageError(
            f"A business vault is part of a Data Vault, and the technique is {checked}.",
            hint="Leave --business-vault out, or choose --technique dv2.",
        )
    if calendar != DEFAULT_CALENDAR and checked != "dimensional":
        raise UsageError(
            f"The technique {checked} has no calendar.",
            hint="Leave --fiscal-year-start and --locale out, or choose --technique dimensional.",
        )
    if variant is None:
        return checked, None
    if checked != "dimensional":
        raise UsageError(
            f"The technique {checked} has no variants.",
            hint="Leave --variant out, or choose --technique dimensional.",
        )
    return checked, check_variant(variant)


def check_combinable(technique: Technique) -> None:
    """Raise UsageError for a technique that can't model several sources as one."""
    if technique not in COMBINING:
        raise UsageError(
            f"Several sources can be modelled as a Data Vault only, not as {technique}.",
            hint="Choose --technique data_vault_2, or forge each source by itself.",
        )


def check_event_dates(technique: str, event_dates: Mapping[str, str] | None) -> None:
    """Raise UsageError where dates are chosen for events, but the technique has no facts."""
    checked = _checked_technique(technique)
    if event_dates and checked != "dimensional":
        raise UsageError(
            f"The technique {checked} has no facts, so no event has a date.",
            hint="Leave --event-date out, or choose --technique dimensional.",
        )


@dataclass(frozen=True, slots=True)
class DecidedModel:
    """A model, and why it doesn't follow some of the decisions about names and descriptions."""

    model: LogicalModel
    refusals: Mapping[AnyDecision, Refusal]


def build_model(
    profile: Profile,
    technique: str = "flat",
    variant: str | None = None,
    observations: Observations = NO_OBSERVATIONS,
    calendar: CalendarSettings = DEFAULT_CALENDAR,
    event_dates: Mapping[str, str] | None = None,
    *,
    business_vault: bool = False,
    decisions: ModelDecisions = NO_DECISIONS,
) -> LogicalModel:
    """Build the logical model of a profile; raise UsageError as ``check_technique`` does.

    Every technique shares the conceptual and the semantic layer. The flat one has no other. With
    ``observations`` of the same source, decisions rest on more than names and the profile.
    ``calendar`` describes the generated calendar of a dimensional model, ``event_dates`` are the
    dates that the user chose for its events, by table. ``decisions`` overrule judgements.
    """
    return build_decided_model(
        profile,
        technique,
        variant,
        observations,
        calendar,
        event_dates,
        business_vault=business_vault,
        decisions=decisions,
    ).model


def build_decided_model(
    profile: Profile,
    technique: str = "flat",
    variant: str | None = None,
    observations: Observations = NO_OBSERVATIONS,
    calendar: CalendarSettings = DEFAULT_CALENDAR,
    event_dates: Mapping[str, str] | None = None,
    *,
    business_vault: bool = False,
    decisions: ModelDecisions = NO_DECISIONS,
    earlier: Continuity | None = None,
) -> DecidedModel:
    """Build a model as ``build_model`` does, and say which names and descriptions it refuses.

    Elements are addressed by the names that they have without the decisions about them, so the
    model is built twice where there are any. With ``earlier``, it follows on an earlier model: the
    profile then has its tables, columns and figures.
    """
    checked, requested_variant = check_technique(
        technique, variant, calendar, business_vault=business_vault
    )
    check_event_dates(checked, event_dates)
    inputs = earlier.inputs if earlier else (DesignInput(profile, observations),)
    designs = _designs(inputs, decisions)
    today = None
    if earlier is not None:
        now = DesignInput(earlier.today, inputs[-1].observations)
        today = _undecided(now, decisions)
    modeling = _Modeling(
        designs,
        checked,
        requested_variant,
        calendar,
        event_dates,
        business_vault,
        decisions,
        earlier,
        today,
    )
    modeling, refusals = _with_conventions(modeling)
    about_tables = [renaming for renaming in decisions.renamings if renaming.element is None]
    unnamed = ElementDecisions(renamings=about_tables)
    draft = modeling.model(unnamed)
    elements = element_decisions(draft, decisions)
    finished = draft if elements == unnamed else modeling.model(elements)
    refused = decided_names(modeling.undecided, elements.renamings).refusals
    refusals |= elements.refusals
    for renaming, refusal in refused.items():
        refusals.setdefault(elements.origins.get(renaming, renaming), refusal)
    return DecidedModel(finished, refusals)


def _designs(inputs: Sequence[DesignInput], decisions: ModelDecisions) -> tuple["_Undecided", ...]:
    """Return what the layers of each input are designed of, each with all that was before it."""
    designs: list[_Undecided] = []
    for each in inputs:
        design = _undecided(each, decisions)
        if designs:
            conceptual = grown_conceptual(designs[-1].conceptual, design.conceptual)
            design = replace(design, conceptual=conceptual)
        designs.append(design)
    return tuple(designs)


def _undecided(given: DesignInput, decisions: ModelDecisions) -> "_Undecided":
    observations = given.observations
    profile = without_contradicted(given.profile, observations.contradicted_references)
    profile = without_repeated(profile, observations.repeated_references)
    conceptual = conceptual_model(profile, observations, decisions)
    if observations.key_overlaps:
        questions = tuple(open_questions(conceptual, observations.key_overlaps))
        candidates = (*questions, *conceptual.candidates)
        conceptual = conceptual.model_copy(update={"candidates": candidates})
    return _Undecided(profile, observations, conceptual, given.arrival)


def _with_conventions(
    modeling: "_Modeling",
) -> tuple["_Modeling", dict[AnyDecision, Refusal]]:
    """Return what a model is built of, with the conventions that were decided if they fit."""
    decided = modeling.decisions.conventions
    if decided is None:
        return modeling, {}
    names = decided_names(modeling.undecided, modeling.decisions.renamings)
    conceptual = with_decided_names(modeling.undecided, names)
    why_not = clash(conceptual, decided.conventions.columns)
    if why_not:
        return modeling, {decided: Refusal("refused", why_not)}
    return replace(modeling, conventions=decided.conventions), {}


@dataclass(frozen=True, slots=True)
class _Layers:
    """The conceptual layer and the one of the technique, if it has one."""

    conceptual: ConceptualModel
    vault: DataVaultModel | None = None
    mart: DimensionalModel | None = None


@dataclass(frozen=True, slots=True)
class _Undecided:
    """What layers are designed of: the conceptual layer is without decided names."""

    profile: Profile
    observations: Observations
    conceptual: ConceptualModel
    arrival: Arrival


@dataclass(frozen=True, slots=True)
class _Modeling:
    """What models of a source are built of, whatever its elements are called.

    ``designs`` are those of the first forge and of each arrival. ``today`` has the last one's
    claims with today's figures, None where nothing is earlier.
    """

    designs: tuple[_Undecided, ...]
    technique: Technique
    variant: Variant | None
    calendar: CalendarSettings
    event_dates: Mapping[str, str] | None
    business_vault: bool
    decisions: ModelDecisions
    earlier: Continuity | None = None
    today: _Undecided | None = None
    conventions: Conventions = DEFAULT_CONVENTIONS

    @property
    def undecided(self) -> ConceptualModel:
        """The conceptual layer without decided names and descriptions."""
        return self.designs[-1].conceptual

    def model(self, elements: ElementDecisions) -> LogicalModel:
        """Build the model with these names and descriptions."""
        layers = _with_elements(
            self._today(self._grown(elements)),
            elements,
            self.conventions,
            business_vault=self.business_vault,
        )
        profile = (self.today or self.designs[-1]).profile
        evolution = self.earlier.evolution if self.earlier else None
        texts = (
            ElementText(element=relation, column=column, text=text)
            for (relation, column), text in elements.texts.items()
        )
        return LogicalModel(
            name=profile.source_name,
            technique=self.technique,
            source_kind=profile.source_kind,
            conceptual=layers.conceptual,
            dv2=layers.vault,
            dimensional=layers.mart,
            osi=semantic_layer(profile, layers.conceptual),
            product=_product(self.decisions, profile.catalog),
            texts=tuple(texts) or None,
            conventions=self.conventions if self.conventions != DEFAULT_CONVENTIONS else None,
            evolution=evolution,
            deliveries=_deliveries(self.decisions, layers.conceptual, evolution) or None,
            validities=validities(
                self.decisions.validities.values(), layers.conceptual, self.technique, evolution
            )
            or None,
        )

    def _grown(self, elements: ElementDecisions) -> _Layers:
        """Build the layers of the first design, and add to them what each arrival brought."""
        names = decided_names(self.undecided, elements.renamings)
        grown: _Layers | None = None
        for design in self.designs:
            named = with_decided_names(design.conceptual, names)
            conceptual = with_descriptions(named, elements.descriptions)
            versioned = _versioned_before(grown, self._rekeyed)
            fresh = self._layers(design, conceptual, self.decisions, versioned)
            if grown is not None:
                pinned = _pinned(self.decisions, grown, fresh, self._rekeyed)
                if pinned != self.decisions:
                    fresh = self._layers(design, conceptual, pinned, versioned)
                fresh = _grown_layers(grown, fresh, design.arrival, self._rekeyed)
            grown = fresh
        assert grown is not None, "there's a first design"
        return grown

    @property
    def _rekeyed(self) -> tuple[RekeyedTable, ...]:
        evolution = self.earlier.evolution if self.earlier else None
        return evolution.rekeyed_tables if evolution else ()

    def _today(self, layers: _Layers) -> _Layers:
        """Return the layers with today's figures, and with what they contradict."""
        if self.earlier is None or self.today is None:
            return layers
        nullable = self.earlier.nullable - _business_keys(layers.vault)
        earlier = replace(self.earlier, nullable=nullable)
        conceptual = with_claims_of_today(layers.conceptual, self.today.conceptual, earlier)
        vault, mart = layers.vault, layers.mart
        if mart is not None:
            mart = star_growth.with_whole_moments(mart, conceptual, self.earlier.wider)
            mart = star_with_claims(mart, conceptual, nullable)
        if vault is not None:
            evolution = self.earlier.evolution or Evolution()
            vault = vault_with_claims(vault, conceptual, nullable, {*evolution.retired_columns})
        return _Layers(conceptual, vault, mart)

    def _layers(
        self,
        design: _Undecided,
        conceptual: ConceptualModel,
        decisions: ModelDecisions,
        versioned: Set[str],
    ) -> _Layers:
        """Build the layer of the technique; a star changes the conceptual one by its merges."""
        profile, observations = design.profile, design.observations
        if self.technique == "data_vault_2":
            strategy = hash_key_strategy(self.conventions.hashing)
            events = judged_events(reference_graph(profile, conceptual, observations))
            raw = data_vault(profile, conceptual, observations, strategy, decisions, events=events)
            if self.conventions != DEFAULT_CONVENTIONS:
                raw = named_vault(raw, conceptual, self.conventions)
            return _Layers(conceptual, vault=raw)
        if self.technique == "dimensional":
            merged = keep_text_keys(with_merges(conceptual, decisions.merges))
            mart = star(
                profile,
                merged,
                observations,
                self.variant,
                self.calendar,
                self.event_dates,
                decisions,
                versioned,
            )
            if self.conventions != DEFAULT_CONVENTIONS:
                mart = named_star(mart, conceptual, self.conventions.prefixes)
            return _Layers(without_unused_merges(merged, conceptual, mart), mart=mart)
        return _Layers(conceptual)


def _versioned_before(kept: _Layers | None, rekeyed: Sequence[RekeyedTable]) -> frozenset[str]:
    """Return the tables by a next key of which there are versions by the earlier one."""
    mart = kept.mart if kept is not None else None
    dimensions = mart.dimensions if mart is not None else ()
    remembered = {each.entity_name for each in dimensions if each.history}
    return frozenset(each.table for each in rekeyed if each.was in remembered)


def _pinned(
    decisions: ModelDecisions, kept: _Layers, fresh: _Layers, rekeyed: Sequence[RekeyedTable]
) -> ModelDecisions:
    """Return the decisions with the roles and keys that tables have, where they'd get others."""
    if kept.vault is not None and fresh.vault is not None:
        roles = vault_growth.changed_roles(kept.vault, fresh.vault)
        keys = vault_growth.changed_keys(kept.vault, fresh.vault)
        return replace(
            decisions,
            vault_roles={**roles, **decisions.vault_roles},
            business_keys={**keys, **decisions.business_keys},
        )
    if kept.mart is not None and fresh.mart is not None:
        earlier = {each.table: each.was for each in rekeyed}
        roles = star_growth.changed_roles(kept.mart, fresh.mart, earlier)
        return replace(decisions, star_roles={**roles, **decisions.star_roles})
    return decisions


def _grown_layers(
    kept: _Layers, fresh: _Layers, arrival: Arrival, rekeyed: Sequence[RekeyedTable]
) -> _Layers:
    """Return the layers with what an arrival brought."""
    tables, vault, mart = set(arrival.tables), kept.vault, kept.mart
    if vault is not None and fresh.vault is not None:
        personal = {
            column
            for column in arrival.columns
            if fresh.conceptual.entity(column.table).attribute(column.column).pii
        }
        has = has_all_but(frozenset(arrival.gone))
        vault = with_further_links(vault, has, _identities(kept.conceptual))
        vault = vault_growth.grown_vault(vault, fresh.vault, tables, arrival.columns, personal, has)
        came = [each for each in rekeyed if each.table in tables]
        vault = with_same_as_links(vault, came, fresh.conceptual)
    if mart is not None and fresh.mart is not None:
        looser = {each.reference for each in arrival.looser}
        names = {r.name for r in fresh.conceptual.relationships if reference_of(r) in looser}
        mart = star_growth.grown_star(
            mart, fresh.mart, fresh.conceptual, tables, arrival.columns, names
        )
    return _Layers(fresh.conceptual, vault, mart)


def _business_keys(vault: DataVaultModel | None) -> frozenset[SourceColumn]:
    """Return the columns that hubs are keyed by: rows that lack one are set apart, never loaded."""
    return frozenset(
        column
        for hub in (vault.hubs if vault is not None else ())
        for column in source_columns(hub.entity_name, hub.business_key_columns)
    )


def _identities(conceptual: ConceptualModel) -> dict[str, tuple[str, ...]]:
    """Return the columns of the primary key of each table that has one."""
    keys = ((entity.name, entity.primary_key) for entity in conceptual.entities)
    return {name: key.attributes for name, key in keys if key is not None}


def _with_elements(
    layers: _Layers,
    elements: ElementDecisions,
    conventions: Conventions,
    *,
    business_vault: bool,
) -> _Layers:
    """Return the layers with decided names and descriptions, and the business vault if wanted."""
    vault, mart = layers.vault, layers.mart
    if vault is not None:
        vault = with_relation_names(vault, elements.relations)
        if business_vault:
            vault = with_business_vault(vault, layers.conceptual, elements.relations, conventions)
        vault = with_texts(vault, elements.texts)
    if mart is not None:
        mart = with_texts(with_relation_names(mart, elements.relations), elements.texts)
    return _Layers(layers.conceptual, vault, mart)


def _deliveries(
    decisions: ModelDecisions, conceptual: ConceptualModel, evolution: Evolution | None
) -> tuple[PartialDelivery, ...]:
    """Return the tables that aren't whole in each delivery, by the model's names.

    Without a key, nobody knows which row a later one replaces.
    """
    names = evolution or Evolution()
    decided = {names.model_table(each.table): each for each in decisions.deliveries.values()}
    return tuple(
        PartialDelivery(
            table=entity.name,
            kind=decision.delivers,
            mark=names.model_column(entity.name, decision.deleted_column or ""),
            marks=decision.deleted_values or (),
        )
        for entity in conceptual.entities
        if (decision := decided.get(entity.name)) is not None
        and decision.delivers != "full"
        and entity.primary_key is not None
    )


def _product(decisions: ModelDecisions, catalog: CatalogFacts | None) -> Product | None:
    """Return what is decided about the product, and what a catalog declares of it where nobody did.

    A catalog that names several owners or domains declares none of them.
    """
    domain, owner, name = decisions.domain, decisions.owner, decisions.name
    declared_owner = catalog.declared_owner if catalog and owner is None else None
    declared_domain = catalog.declared_domain if catalog and domain is None else ""
    is_declared = declared_owner is not None or bool(declared_domain)
    if domain is None and owner is None and name is None and not is_declared:
        return None
    declared_email = declared_owner.email or None if declared_owner else None
    return Product(
        name=name.name if name else None,
        domain=domain.domain if domain else declared_domain or None,
        team=owner.team if owner else declared_owner.name if declared_owner else None,
        email=owner.email if owner else declared_email,
        domain_from=catalog.catalog if catalog and declared_domain else None,
        owner_from=catalog.catalog if catalog and declared_owner else None,
    )


def _checked_technique(technique: str) -> Technique:
    spelling = technique.strip().lower().replace("-", "_").replace(" ", "_").replace("2.0", "2")
    for name in TECHNIQUES:
        if name == ALIASES.get(spelling, spelling):
            return name
    raise unknown_name("technique", technique, sorted(TECHNIQUES), aliases=ALIASES)
