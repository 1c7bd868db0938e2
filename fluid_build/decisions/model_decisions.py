"""The decisions that the modelling follows, by what they are about."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from fluid_build.decisions.language import (
    STAR_ROLES,
    AnyDecision,
    BaseDecision,
    BusinessKey,
    Classify,
    Describe,
    Domain,
    Grain,
    Measure,
    Merge,
    Owner,
    PersonalData,
    ProductName,
    Rename,
    SetConventions,
    SetDelivery,
    SetValidity,
    Split,
)

D = TypeVar("D", bound=BaseDecision)


@dataclass(frozen=True, slots=True)
class ModelDecisions:
    """Decisions that apply, by table, or by table and column; the last of two on one subject.

    A table may have a role in a vault and another one in a star. ``personal`` are the columns of
    which somebody said that they hold personal data, each with its table.
    """

    vault_roles: Mapping[str, Classify] = field(default_factory=dict)
    star_roles: Mapping[str, Classify] = field(default_factory=dict)
    business_keys: Mapping[str, BusinessKey] = field(default_factory=dict)
    grains: Mapping[str, Grain] = field(default_factory=dict)
    measures: Mapping[tuple[str, str], Measure] = field(default_factory=dict)
    merges: tuple[Merge, ...] = ()
    splits: tuple[Split, ...] = ()
    personal: frozenset[tuple[str, str]] = frozenset()
    renamings: tuple[Rename, ...] = ()
    descriptions: tuple[Describe, ...] = ()
    domain: Domain | None = None
    owner: Owner | None = None
    name: ProductName | None = None
    conventions: SetConventions | None = None
    deliveries: Mapping[str, SetDelivery] = field(default_factory=dict)
    validities: Mapping[str, SetValidity] = field(default_factory=dict)

    @property
    def roles(self) -> tuple[Classify, ...]:
        """The roles of all tables, in a vault and in a star."""
        return (*self.vault_roles.values(), *self.star_roles.values())


NO_DECISIONS = ModelDecisions()


def model_decisions(decisions: Iterable[AnyDecision]) -> ModelDecisions:
    """Return the decisions that the modelling follows; the others have changed the profile."""
    kinds: dict[type, list[AnyDecision]] = {}
    for decision in decisions:
        kinds.setdefault(type(decision), []).append(decision)

    def of(kind: type[D]) -> list[D]:
        return [decision for decision in kinds.get(kind, []) if isinstance(decision, kind)]

    roles = of(Classify)
    return ModelDecisions(
        vault_roles={each.table: each for each in roles if each.role not in STAR_ROLES},
        star_roles={each.table: each for each in roles if each.role in STAR_ROLES},
        business_keys={decision.table: decision for decision in of(BusinessKey)},
        grains={decision.table: decision for decision in of(Grain)},
        measures={(decision.table, decision.column): decision for decision in of(Measure)},
        merges=tuple(of(Merge)),
        splits=tuple(of(Split)),
        personal=frozenset((d.table, d.column) for d in of(PersonalData) if d.is_personal),
        renamings=tuple(of(Rename)),
        descriptions=tuple(of(Describe)),
        domain=next(reversed(of(Domain)), None),
        owner=next(reversed(of(Owner)), None),
        name=next(reversed(of(ProductName)), None),
        conventions=next(reversed(of(SetConventions)), None),
        deliveries={decision.table: decision for decision in of(SetDelivery)},
        validities={decision.table: decision for decision in of(SetValidity)},
    )
