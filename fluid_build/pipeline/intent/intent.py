"""An intent: the product's name, domain and owner, and the entities that it's about."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from fluid_build.decisions.language import Decision, KeyColumns, Label, NewName, SourceName, Text
from fluid_build.modeling.logical import Technique
from fluid_build.text import clip, did_you_mean

IntentType = Literal[
    "text", "integer", "decimal", "number", "boolean", "date", "timestamp"
]  # fmt: skip

MAX_BYTES = 1_000_000
"""A long requirements document; a model reads at most what fits its window."""
_MOST_ENTITIES = 500
_MOST_ATTRIBUTES = 1_000
_LONGEST_ADVICE = 200

Goal = Annotated[str, Field(max_length=MAX_BYTES)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class IntentAttribute(_Part):
    """A property of an entity; ``column`` is where a source has it, by default under its name."""

    name: NewName
    type: IntentType = "text"
    description: Text | None = None
    is_required: bool = False
    is_personal: bool = False
    column: SourceName | None = None


class IntentReference(_Part):
    """A reference to another entity; ``columns`` are new unless they are attributes.

    By default they are called after the entity and its key.
    """

    to: NewName
    columns: tuple[NewName, ...] = ()
    is_required: bool = False


class IntentEntity(_Part):
    """Something that the product is about; ``table`` is where a source has it.

    ``key`` are the attributes that identify it, by default ``NAME_id``.
    """

    name: NewName
    description: Text | None = None
    table: SourceName | None = None
    key: KeyColumns | None = None
    attributes: Annotated[tuple[IntentAttribute, ...], Field(max_length=_MOST_ATTRIBUTES)] = ()
    references: tuple[IntentReference, ...] = ()

    @property
    def key_columns(self) -> tuple[str, ...]:
        """Return the attributes that identify it."""
        return self.key or (f"{self.name}_id",)


class IntentOwner(_Part):
    """The team that answers for the product."""

    team: Label
    email: Label | None = None


class Intent(_Part):
    """What a business wants. ``goal`` is a text for people, and for a model if there is one."""

    name: Label | None = None
    domain: Label | None = None
    owner: IntentOwner | None = None
    technique: Technique | None = None
    goal: Goal = ""
    entities: Annotated[tuple[IntentEntity, ...], Field(max_length=_MOST_ENTITIES)] = ()
    decisions: tuple[Decision, ...] = ()

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        for contradiction in contradictions(self.model_dump()):
            raise ValueError(contradiction.message.removesuffix("."))
        return self


def reference_columns(reference: IntentReference, target: IntentEntity) -> tuple[str, ...]:
    """Return the columns of a reference: its own, or those that are called after the target."""
    if len(reference.columns) == len(target.key_columns):
        return reference.columns
    return tuple(
        key if key.startswith(target.name) else f"{target.name}_{key}" for key in target.key_columns
    )


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two parts of an intent that don't agree; ``path`` leads to the later one."""

    path: tuple[str | int, ...]
    message: str
    allowed: str = ""


def contradictions(document: Mapping[str, object]) -> Iterator[Contradiction]:
    """Yield what doesn't agree in a document; whatever isn't the shape of an intent is ignored."""
    entities = [(number, entity) for number, entity in _mappings(document, "entities")]
    names = [str(entity["name"]) for _, entity in entities if "name" in entity]
    seen: set[str] = set()
    for number, entity in entities:
        name, path = str(entity.get("name", "")), ("entities", number)
        if name and name in seen:
            yield Contradiction((*path, "name"), f"two entities have the name {name}.")
        seen.add(name)
        yield from _repeated_attributes(name, entity, path)
        for position, reference in _mappings(entity, "references"):
            target = str(reference.get("to", ""))
            if target and target not in names:
                yield Contradiction(
                    (*path, "references", position, "to"),
                    f"{name} refers to {target}, which isn't an entity.",
                    clip(
                        f"{did_you_mean(target, names)}Entities: {', '.join(names)}.",
                        _LONGEST_ADVICE,
                    ),
                )


def _repeated_attributes(
    entity_name: str, entity: Mapping[str, object], path: tuple[str | int, ...]
) -> Iterator[Contradiction]:
    seen: set[str] = set()
    for position, attribute in _mappings(entity, "attributes"):
        name = str(attribute.get("name", ""))
        if name and name in seen:
            place = (*path, "attributes", position, "name")
            yield Contradiction(place, f"two attributes of {entity_name} have the name {name}.")
        seen.add(name)


def _mappings(
    document: Mapping[str, object], field: str
) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield the mappings in a list, with their positions."""
    items = document.get(field)
    for position, item in enumerate(items if isinstance(items, list | tuple) else ()):
        if isinstance(item, Mapping):
            yield position, item
