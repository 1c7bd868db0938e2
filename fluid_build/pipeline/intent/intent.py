"""An intent: the product's name, domain and owner, and the entities that it's about."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fluid_build.contract.read.parsers import read_yaml
from fluid_build.decisions.language import Decision, KeyColumns, Label, NewName, SourceName, Text
from fluid_build.errors import UsageError
from fluid_build.modeling.logical import Technique
from fluid_build.regular_files import read_regular
from fluid_build.text import clip

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
    def _names_are_distinct(self) -> Self:
        names = {entity.name for entity in self.entities}
        if len(names) < len(self.entities):
            raise ValueError("two entities have the same name")
        for entity in self.entities:
            unknown = [r.to for r in entity.references if r.to not in names]
            if unknown:
                raise ValueError(f"{entity.name} refers to {unknown[0]}, which is no entity")
            attributes = [attribute.name for attribute in entity.attributes]
            if len(set(attributes)) < len(attributes):
                raise ValueError(f"two attributes of {entity.name} have the same name")
        return self


def read_intent(argument: str) -> Intent:
    """Return an intent: the content of a file, or the argument itself.

    A YAML mapping is read as an ``Intent``, everything else as a goal. Raises UsageError for a
    mapping with faults, an empty text, or a file that can't be read.
    """
    path = Path(argument)
    try:
        is_file = path.is_file()
    except (OSError, ValueError):  # a text may be too long for a path, or no path at all
        is_file = False
    if is_file:
        return _parse(_text_of(path), str(path))
    if not argument.strip():
        raise UsageError("The intent is empty.", hint="Say what you want, or name a file.")
    if " " not in argument.strip() and path.suffix in {".yaml", ".yml", ".md", ".txt", ".json"}:
        raise UsageError(f"The file '{path}' doesn't exist.", hint="Check the path.")
    return _parse(argument, "the intent")


def _text_of(path: Path) -> str:
    try:
        return read_regular(path, MAX_BYTES, too_large="Shorten it.").decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path} isn't UTF-8 text.", hint="Save it as UTF-8.") from None
    except OSError as error:
        raise UsageError(
            f"{path} can't be read: {error.strerror}.", hint="Check its permissions."
        ) from None


def _parse(text: str, place: str) -> Intent:
    located = read_yaml(text, place) if _looks_like_mapping(text) else None
    if located is None:
        return Intent(goal=text.strip())
    try:
        return Intent.model_validate(located.document)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        path = tuple(first["loc"])
        line = next(
            (located.lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in located.lines),
            None,
        )
        where = f"{place}, line {line}" if line else place
        key = ".".join(map(str, path))
        raise UsageError(
            f"{where}: {key or 'the intent'} isn't valid: {first['msg']}.",
            hint=clip(f"Known keys: {', '.join(Intent.model_fields)}.", _LONGEST_ADVICE),
        ) from None


def _looks_like_mapping(text: str) -> bool:
    """Return whether the first line that says anything begins with a key of an intent."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith(("#", "---"))), "")
    return first.partition(":")[0].strip("\"' {") in Intent.model_fields and ":" in first
