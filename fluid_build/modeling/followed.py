"""Whether the finished model shows the decisions that were accepted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fluid_build.decisions.language import (
    AnyDecision,
    Describe,
    Domain,
    Exposure,
    Merge,
    Owner,
    ProductName,
    Rename,
    Split,
)
from fluid_build.decisions.model_decisions import ModelDecisions
from fluid_build.decisions.verdicts import Refusal, Verdict
from fluid_build.modeling.conceptual import Attribute, ConceptualModel, Entity
from fluid_build.modeling.data_vault.decided import unfollowed as vault
from fluid_build.modeling.decided_measures import unfollowed_measures
from fluid_build.modeling.dimensional.decided import unfollowed as dimensional
from fluid_build.modeling.element_columns import element_columns, relation_names
from fluid_build.modeling.evolution import Evolution
from fluid_build.modeling.logical import LogicalModel, Product
from fluid_build.modeling.sql_names import is_reserved, legal_names, sql_names
from fluid_build.modeling.validity import unfollowed_validities
from fluid_build.text import listed, nearest


def followed(
    verdicts: Sequence[Verdict],
    model: LogicalModel,
    decisions: ModelDecisions,
    refusals: Mapping[AnyDecision, Refusal] | None = None,
) -> tuple[Verdict, ...]:
    """Return the verdicts, those refused or unused whose decision the model doesn't show.

    ``decisions`` are the ones that the model was built with, ``refusals`` what building refused.
    """
    refusals = {**dict(_refusals(model, decisions)), **(refusals or {})}
    return tuple(_final(verdict, model, refusals) for verdict in verdicts)


def _final(
    verdict: Verdict, model: LogicalModel, refusals: Mapping[AnyDecision, Refusal]
) -> Verdict:
    if not verdict.applies:
        return verdict
    decision = verdict.decision.model_copy(update={"evidence": verdict.evidence})
    refusal = refusals.get(decision) or _unseen(model, decision)
    if refusal is not None:
        return replace(verdict, status=refusal.status, message=refusal.message)
    if isinstance(decision, Rename):
        return replace(verdict, message=_spelling(model, decision) or verdict.message)
    return verdict


def _refusals(
    model: LogicalModel, decisions: ModelDecisions
) -> Iterator[tuple[AnyDecision, Refusal]]:
    yield from _without_a_key(model, decisions)
    yield from unfollowed_validities(model, decisions.validities.values())
    yield from unfollowed_measures(model.conceptual, decisions).items()
    if model.technique == "flat":
        for decision, concept in _structural(decisions):
            yield decision, Refusal("unused", f"Flat tables have no {concept}.")
    if model.dv2 is not None:
        for grain in decisions.grains.values():
            yield grain, Refusal("unused", "A Data Vault has no facts, so no grain.")
        yield from vault.unfollowed(model.dv2, model.conceptual, decisions).items()
    if model.dimensional is not None:
        yield from dimensional.unfollowed(model.dimensional, model.conceptual, decisions).items()


def _without_a_key(
    model: LogicalModel, decisions: ModelDecisions
) -> Iterator[tuple[AnyDecision, Refusal]]:
    """Yield the deliveries of parts of a table whose rows aren't known again."""
    evolution = model.evolution or Evolution()
    followed_tables = {each.table for each in model.deliveries or ()}
    for decision in decisions.deliveries.values():
        table = evolution.model_table(decision.table)
        if decision.delivers != "full" and table not in followed_tables:
            message = (
                f"`{decision.table}` has no key by which a row is known again: decide with"
                " `set_key` which columns are its key."
            )
            yield decision, Refusal("refused", message)


def _structural(decisions: ModelDecisions) -> Iterator[tuple[AnyDecision, str]]:
    """Yield the decisions about the structure of a model, each with what it's about."""
    for role in decisions.roles:
        yield role, "dates of their own" if role.role == "date" else f"{role.role}s"
    for key in decisions.business_keys.values():
        yield key, "business keys"
    for grain in decisions.grains.values():
        yield grain, "facts, so no grain"
    changes: tuple[Merge | Split, ...] = (*decisions.merges, *decisions.splits)
    for change in changes:
        yield change, "entities besides the source's tables"


def _unseen(model: LogicalModel, decision: AnyDecision) -> Refusal | None:
    """Return why a decision about names, texts or the product isn't seen in the model."""
    product = model.product or Product()
    match decision:
        case Domain(domain=domain) if product.domain != domain:
            return _overruled(f"the domain is `{product.domain}`")
        case Owner(team=team, email=email) if (product.team, product.email) != (team, email):
            return _overruled(f"the owner is `{product.team}`")
        case ProductName(name=name) if product.name != name:
            return _overruled(f"the product is called `{product.name}`")
        case Exposure(models=models):
            return _unread(models, relation_names(model))
        case Rename(element=str(), column=None, new_name=new_name):
            if legal_names([new_name])[new_name] not in relation_names(model):
                return Refusal("refused", f"`{decision.element}` keeps its name.")
        case Describe(element=str(), text=text) if text not in {
            each.text for each in model.texts or ()
        }:
            return Refusal("refused", f"`{decision.element}` keeps its description.")
        case Rename(table=str(), new_name=new_name) | Describe(table=str(), text=new_name):
            part = _part(model.conceptual, decision)
            if part is None:
                return Refusal("refused", f"The model has no {_target(decision)}.")
            seen = part.new_name if isinstance(decision, Rename) else part.description
            if seen != new_name:
                if seen in {each.text for each in model.texts or ()}:
                    return Refusal("unused", f"Another decision describes {_target(decision)}.")
                return Refusal("refused", f"{_target(decision)} stays as it is in the model.")
    return None


def _unread(models: Sequence[str], relations: Sequence[str]) -> Refusal | None:
    """Return the refusal of something that reads relations which the model doesn't have."""
    unknown = [name for name in models if name not in relations]
    if not unknown:
        return None
    close = dict.fromkeys(nearest(name, tuple(relations)) for name in unknown)
    guesses = [f"`{name}`" for name in close if name is not None]
    guess = f" The nearest: {listed(guesses)}." if guesses else ""
    return Refusal("refused", f"The model has no {listed([f'`{n}`' for n in unknown])}.{guess}")


def _overruled(fact: str) -> Refusal:
    return Refusal("unused", f"Another decision counts: {fact}.")


def _part(conceptual: ConceptualModel, decision: Rename | Describe) -> Entity | Attribute | None:
    """Return the table or column that a decision is about; None where the model lacks it."""
    entity = next((e for e in conceptual.entities if e.name == decision.table), None)
    if entity is None or decision.column is None:
        return entity
    return next((a for a in entity.attributes if a.name == decision.column), None)


def _spelling(model: LogicalModel, decision: Rename) -> str:
    """Return the sentence for a name that relations spell differently; "" where they don't."""
    names = sql_names(model.conceptual)
    if decision.table is None:
        name = legal_names([decision.new_name])[decision.new_name]
    elif decision.column is None:
        name = names.table(decision.table)
    else:
        name = names.column(decision.table, decision.column)
    if name == decision.new_name:
        for relation, columns in element_columns(model).items():
            numbered = {
                column
                for column, source in columns.items()
                if (source.table, source.column) == (decision.table, decision.column)
                and column.removeprefix(f"{name}_").isdecimal()
            }
            if numbered:
                return f"`{relation}` has a `{name}` of its own, so it's `{min(numbered)}` there."
        return ""
    if is_reserved(decision.new_name):
        return f"`{decision.new_name}` is reserved on a target or used by builds, so it's `{name}`."
    return f"Names are in snake_case, so it's `{name}`."


def _target(decision: Rename | Describe) -> str:
    column = "" if decision.column is None else f".{decision.column}"
    return f"`{decision.table}{column}`"
