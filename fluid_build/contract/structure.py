"""What the contract's types allow at a place: the way from Pydantic's error back to a reader.

Pydantic tells where an error is, in its own terms (with the chosen branch of a union in the path);
it does not tell which keys or words would have been right. The types do.
"""

import types
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Tag
from pydantic.fields import FieldInfo

from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.fluid.common import NumberRule, TextPattern, named
from fluid_build.contract.fluid.plain_parts import PlainPart

Part = str | int
Path = tuple[Part, ...]


@dataclass(frozen=True)
class Allowed:
    """A type of the contract without its wrappings, and the rules that were wrapped around it."""

    type: Any
    rules: tuple[object, ...] = ()

    @property
    def shape(self) -> TextPattern | None:
        """The pattern that a text must match, if there is one."""
        return next((rule for rule in self.rules if isinstance(rule, TextPattern)), None)

    @property
    def number(self) -> NumberRule | None:
        """The rule that a number must keep, if there is one."""
        return next((rule for rule in self.rules if isinstance(rule, NumberRule)), None)

    @property
    def words(self) -> tuple[str, ...]:
        """The only words that are allowed; empty where others are."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    @property
    def part(self) -> type[BaseModel] | PlainPart | None:
        """The part of the contract, where a mapping with known keys is allowed."""
        if isinstance(self.type, type) and issubclass(self.type, BaseModel):
            return self.type
        return next((rule for rule in self.rules if isinstance(rule, PlainPart)), None)

    @property
    def branches(self) -> dict[str, "Allowed"]:
        """The types that a value may have, by tag; empty where there is one type."""
        if get_origin(self.type) not in (Union, types.UnionType):
            return {}
        branches = [allowed(branch) for branch in get_args(self.type)]
        return {
            rule.tag: branch
            for branch in branches
            for rule in branch.rules
            if isinstance(rule, Tag)
        }

    @property
    def meaning(self) -> str:
        """What is allowed, in words that follow "it should be"."""
        if self.branches:
            return " or ".join(dict.fromkeys(b.meaning for b in self.branches.values()))
        if self.words:
            return ("one of " if len(self.words) > 1 else "") + named(self.words)
        rule = self.shape or self.number
        if rule is not None:
            return rule.meaning
        return _MEANINGS.get(get_origin(self.type) or self.type, "a mapping")


_MEANINGS = {str: "text", bool: "true or false", list: "a list", dict: "a mapping"}


def allowed(annotation: object, rules: Sequence[object] = ()) -> Allowed:
    """Take the wrappings (Annotated, "or None") off an annotation and keep their rules."""
    gathered = list(rules)
    while True:
        origin, args = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            annotation = args[0]
            for rule in args[1:]:
                gathered.extend(rule.metadata if isinstance(rule, FieldInfo) else [rule])
        elif origin in (Union, types.UnionType) and type(None) in args:
            annotation = next(arg for arg in args if arg is not type(None))
        else:
            return Allowed(annotation, tuple(gathered))


def _of_field(field: FieldInfo) -> Allowed:
    return allowed(field.annotation, field.metadata)


@cache
def keys_of(part: type[BaseModel] | PlainPart) -> dict[str, Allowed]:
    """Return the keys that a part knows, as the document spells them, and what each allows."""
    if isinstance(part, PlainPart):
        return {key: allowed(type_) for key, type_ in part.keys.items()}
    return {field.alias or name: _of_field(field) for name, field in part.model_fields.items()}


def required_keys(part: type[BaseModel] | PlainPart) -> Collection[str]:
    """Return the keys that must be there, as the document spells them."""
    if isinstance(part, PlainPart):
        return part.required
    fields = part.model_fields.items()
    return [field.alias or name for name, field in fields if field.is_required()]


def resolve(location: Sequence[Part]) -> tuple[Path, Allowed | None, Allowed | None]:
    """Return the path that Pydantic's location means, what's allowed there, and what above.

    What is allowed is None under a key that nothing is known of.
    """
    path: list[Part] = []
    here: Allowed | None = Allowed(FluidContract)
    above: Allowed | None = None
    for part in location:
        if here is not None and part in here.branches:
            here = here.branches[str(part)]
        else:
            path.append(part)
            above, here = here, _below(here, part)
    return tuple(path), here, above


def _below(here: Allowed | None, part: Part) -> Allowed | None:
    if here is None:
        return None
    if here.part is not None:
        return keys_of(here.part).get(str(part))
    inner = get_args(here.type)
    return allowed(inner[-1]) if get_origin(here.type) in (list, dict) else None
