"""What a made-up database is: its domains, size, naming style and the habits of its designer."""

import random
from dataclasses import asdict, dataclass, replace

from bench.worlds.domains import Entity, Reference, domain, domain_names
from bench.worlds.hazards import IN_EVERY_KEY, SCOPES, restyle
from bench.worlds.naming import Style, draw_style, weighted

_KEYS = {"surrogate": 36, "mixed": 40, "natural": 24}
_SURROGATES = {"dense": 56, "sparse": 16, "disjoint": 10, "large": 6, "from zero": 4, "uuid": 8}
_CODE_KEYS = {
    "surrogate": {"lookup": 0.12, "master": 0.02, "event": 0.0},
    "mixed": {"lookup": 0.5, "master": 0.15, "event": 0.04},
    "natural": {"lookup": 0.9, "master": 0.6, "event": 0.25},
}
_COMPOSITE_KEYS = {"surrogate": 0.3, "mixed": 0.85, "natural": 1.0}
_PERSONAL = frozenset({"email", "phone", "birth-date", "sex"})
_MEDIAN_TABLES = 2.45
_MOST_TABLES = 60
_TABLES_A_DOMAIN = 17


@dataclass(frozen=True, slots=True)
class Habits:
    """The habits of a database's designer, and what its data has been through."""

    style: Style
    domains: tuple[str, ...]
    tables: int
    scale: float
    shape: str
    keys: str
    surrogates: str
    hazards: frozenset[str]
    companies: int
    integer: str
    has_users: bool
    has_audit_columns: bool
    has_named_attributes: bool
    has_copied_references: bool
    has_copied_names: bool
    has_history: bool
    has_summaries: bool
    has_texts: bool
    """Whether names are kept in tables of their own, a row for each language."""
    has_dependent_codes: bool
    """Whether some codes are unique only within a parent: a city's within its country."""
    has_polymorphic: bool
    has_junk: bool
    has_missing_parents: bool
    has_orphans: bool
    has_drifting_names: bool
    stores_text: bool

    @property
    def scope(self) -> str:
        """The entity that all rows belong to: a tenant, a version; or empty."""
        return next((SCOPES[hazard] for hazard in SCOPES if hazard in self.hazards), "")

    @property
    def is_scope_in_keys(self) -> bool:
        return bool(self.scope) and "client column" not in self.hazards

    def has_code_key(self, rng: random.Random, entity: Entity) -> bool:
        return rng.random() < _CODE_KEYS[self.keys].get(entity.kind, 0.0)

    def has_composite_key(self, rng: random.Random, entity: Entity) -> bool:
        bridge = len(entity.parts) > 1 and not entity.counters
        share = 1.0 if "code" in entity.counters else _COMPOSITE_KEYS[self.keys]
        return rng.random() < (share + 0.3 if bridge else share)

    def features(self) -> dict[str, object]:
        """Return what was drawn, flat, for a breakdown of scores."""
        features = {**asdict(self.style), **asdict(self)}
        features.pop("style")
        features.pop("alphabet")
        features["hazards"] = sorted(self.hazards)
        features["domains"] = self.domains[0] if len(self.domains) == 1 else "several"
        size = "small" if self.tables < 8 else "medium" if self.tables < 25 else "large"
        features["tables"] = size
        features["scale"] = "small" if self.scale < 0.3 else "medium" if self.scale < 2 else "large"
        return features


def draw_habits(rng: random.Random, hazards: frozenset[str], seed: str) -> Habits:
    """Draw a database; the mix is like that of real ones, hard habits are the rarer ones."""
    tables = min(_MOST_TABLES, max(2, round(rng.lognormvariate(_MEDIAN_TABLES, 0.75))))
    count = 1 + tables // _TABLES_A_DOMAIN
    domains = tuple(rng.sample(domain_names(), count))
    keys = weighted(rng, _KEYS)
    shape = "star" if rng.random() < 0.12 else "normalised"
    style = draw_style(rng)
    if shape == "star":
        hazards, keys = hazards.difference(SCOPES, {"authority in keys"}), "surrogate"
        style = replace(
            style,
            table_prefix=rng.choice(("", "dim", "d")),
            key_word=rng.choice(("id", "key", "sk", style.key_word)),
            has_bare_keys=False,
        )

    def happens(share: float) -> bool:
        return rng.random() < share

    return Habits(
        style=restyle(style, hazards, seed),
        domains=domains,
        tables=tables,
        scale=min(4.0, max(0.04, rng.lognormvariate(-0.6, 0.9))),
        shape=shape,
        keys=keys,
        surrogates=weighted(rng, _SURROGATES),
        hazards=hazards,
        companies=rng.choice((1, 2, 3, 3, 4, 6)),
        integer=rng.choice(("INTEGER", "BIGINT")),
        has_users=happens(0.25),
        has_audit_columns=happens(0.4),
        has_named_attributes=happens(0.2),
        has_copied_references=happens(0.25),
        has_copied_names=happens(0.2),
        has_history=happens(0.2),
        has_summaries=happens(0.15),
        has_texts=happens(0.12),
        has_dependent_codes=keys != "surrogate" and happens(0.5) and not hazards & IN_EVERY_KEY,
        has_polymorphic=happens(0.15),
        has_junk=happens(0.3),
        has_missing_parents=happens(0.3),
        has_orphans=happens(0.25),
        has_drifting_names=happens(0.2),
        stores_text=happens(0.05),
    )


def choose_entities(rng: random.Random, habits: Habits) -> dict[str, Entity]:
    """Return the entities that the database has, those they depend on first."""
    known: dict[str, Entity] = {}
    for name in habits.domains:
        for entity in domain(name).values():
            known.setdefault(entity.name, entity)
    if habits.has_users and "user" not in known:
        known["user"] = Entity("user", "master", (), (), (), ("login", "name", "email"))
    chosen: dict[str, Entity] = {}
    names = list(known)
    rng.shuffle(names)
    names.sort(key=lambda name: known[name].kind == "lookup")
    if habits.has_users:
        names.insert(0, "user")
    for name in names:
        if len(chosen) < habits.tables:
            _add(rng, known, name, chosen)
    if habits.has_dependent_codes:
        _make_dependent(rng, chosen)
    if habits.has_texts:
        _add_texts(rng, chosen)
    if habits.has_history:
        _add_histories(rng, chosen)
    if habits.has_summaries:
        _add_summary(rng, chosen)
    return _in_order(chosen)


def _add(
    rng: random.Random, known: dict[str, Entity], name: str, chosen: dict[str, Entity]
) -> None:
    """Choose an entity and what it needs: its parts always, its references mostly."""
    if name in chosen:
        return
    entity = chosen[name] = known[name]
    for reference in (*entity.parts, *entity.references):
        if reference in entity.parts or rng.random() < (0.35 if reference.is_optional else 0.85):
            _add(rng, known, reference.entity, chosen)


def _make_dependent(rng: random.Random, chosen: dict[str, Entity]) -> None:
    """Let a parent and a code identify some lookups and masters."""
    names = [
        name for name, entity in chosen.items()
        if entity.kind in {"lookup", "master"} and not _PERSONAL & set(entity.attributes)
    ]  # fmt: skip
    for name in rng.sample(names, min(len(names), 6)):
        entity = chosen[name]
        owners = [
            reference for reference in entity.references
            if reference.entity in chosen and not reference.role and not reference.is_optional
            and not chosen[reference.entity].parts
            and not any(name in {p.entity for p in e.parts} for e in chosen.values())
        ]  # fmt: skip
        if owners:
            remaining = tuple(r for r in entity.references if r is not owners[0])
            chosen[name] = replace(
                entity, kind="of", parts=(owners[0],), counters=("code",), references=remaining
            )


def _add_texts(rng: random.Random, chosen: dict[str, Entity]) -> None:
    named = [e for e in chosen.values() if e.attributes[:1] == ("name",) and e.kind != "of"]
    for entity in rng.sample(named, min(len(named), rng.randint(1, 4))):
        text = Entity(
            f"{entity.name}-text", "of", (Reference(entity.name),), ("language",), (),
            ("name", "description"),
        )  # fmt: skip
        chosen[text.name] = text
        chosen[entity.name] = replace(entity, attributes=(*entity.attributes[1:], "created-date"))


def _add_histories(rng: random.Random, chosen: dict[str, Entity]) -> None:
    masters = [entity for entity in chosen.values() if entity.kind == "master"]
    for entity in rng.sample(masters, min(len(masters), rng.randint(1, 2))):
        name = f"{entity.name}-{rng.choice(('history', 'audit'))}"
        counter = rng.choice(("date", "version"))
        chosen[name] = Entity(
            name, "of", (Reference(entity.name),), (counter,), (), entity.attributes
        )


def _add_summary(rng: random.Random, chosen: dict[str, Entity]) -> None:
    events = [e for e in chosen.values() if e.kind == "event" and e.references]
    for event in events[: rng.randint(1, 2)]:
        parent = event.references[0]
        if parent.entity in chosen:
            name = f"monthly-{event.name}-summary"
            chosen[name] = Entity(
                name, "of", (parent,), ("month",), (), ("total-amount", "count", "max-value")
            )


def _in_order(chosen: dict[str, Entity]) -> dict[str, Entity]:
    """Return the entities ordered so that the parts of each come before it."""
    ordered: dict[str, Entity] = {}

    def visit(entity: Entity) -> None:
        for part in entity.parts:
            if part.entity not in ordered:
                visit(chosen[part.entity])
        ordered[entity.name] = entity

    for entity in chosen.values():
        if entity.name not in ordered:
            visit(entity)
    return ordered
