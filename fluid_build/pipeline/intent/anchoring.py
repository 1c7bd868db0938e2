"""An intent anchored in a source: what it says of entities, as decisions about their tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fluid_build.decisions.language import (
    AnyDecision,
    Describe,
    Domain,
    Owner,
    PersonalData,
    ProductName,
    Rename,
    SetKey,
)
from fluid_build.pipeline.intent.intent import Intent, IntentAttribute, IntentEntity
from fluid_build.sources.base import Table


@dataclass(frozen=True, slots=True)
class AnchoredIntent:
    """The decisions of an intent, and the entities and attributes that the source doesn't have."""

    decisions: tuple[AnyDecision, ...]
    missing: tuple[str, ...]


def product_decisions(intent: Intent) -> tuple[AnyDecision, ...]:
    """Return what an intent says of the product itself, and its own decisions."""
    product: list[AnyDecision] = []
    if intent.name:
        product.append(ProductName(name=intent.name))
    if intent.domain:
        product.append(Domain(domain=intent.domain))
    if intent.owner:
        product.append(Owner(team=intent.owner.team, email=intent.owner.email))
    return (*product, *intent.decisions)


def anchored(intent: Intent, tables: Sequence[Table]) -> AnchoredIntent:
    """Return an intent as decisions about tables of a source.

    An entity is a table if it says so, or if they have the same name but for case, underscores and
    a plural's s. The data is asked later: a key that doesn't hold is refused then.
    """
    by_name = {_plain(table.name): table for table in tables}
    by_name |= {_plain(table.own_name): table for table in tables}
    by_name |= {table.name: table for table in tables}
    decisions: list[AnyDecision] = []
    missing: list[str] = []
    for entity in intent.entities:
        table = by_name.get(entity.table or "") or by_name.get(_plain(entity.table or entity.name))
        if table is None:
            missing.append(entity.name)
            continue
        decisions += _about_table(entity, table)
        for attribute in entity.attributes:
            column = _column(attribute, table)
            if column is None:
                missing.append(f"{entity.name}.{attribute.name}")
            else:
                decisions += _about_column(attribute, table.name, column)
    return AnchoredIntent((*decisions, *product_decisions(intent)), tuple(missing))


def _about_table(entity: IntentEntity, table: Table) -> Iterator[AnyDecision]:
    if _plain(entity.name) != _plain(table.own_name):
        yield Rename(table=table.name, new_name=entity.name)
    if entity.description:
        yield Describe(table=table.name, text=entity.description)
    attributes = {attribute.name: attribute for attribute in entity.attributes}
    key = [
        _column(attributes.get(name) or IntentAttribute(name=name), table)
        for name in entity.key or ()
    ]
    known = tuple(column for column in key if column is not None)
    if known and len(known) == len(key):
        yield SetKey(table=table.name, columns=known)


def _about_column(attribute: IntentAttribute, table: str, column: str) -> Iterator[AnyDecision]:
    if _plain(attribute.name) != _plain(column):
        yield Rename(table=table, column=column, new_name=attribute.name)
    if attribute.description:
        yield Describe(table=table, column=column, text=attribute.description)
    if attribute.is_personal:
        yield PersonalData(table=table, column=column)


def _column(attribute: IntentAttribute, table: Table) -> str | None:
    names = [column.name for column in table.columns]
    wanted = attribute.column or attribute.name
    if wanted in names:
        return wanted
    return next((name for name in names if _plain(name) == _plain(wanted)), None)


def _plain(name: str) -> str:
    """Return a name without case, underscores, blanks, and the s of a plural."""
    plain = "".join(c for c in name.lower() if c.isalnum() or c == ".")
    return plain.removesuffix("s")
