"""What every part of a FLUID contract is made of: the two bases, and the scalars with a shape.

A document is judged in strict mode (nothing is coerced, names are the document's camelCase, a null
is not an absent key); see ``fluid_build.contract.validation``. Our own code builds the same types
with Python names, where None means absent.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    TypeAdapter,
    ValidationError,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from fluid_build.text import listed

_CONFIG = ConfigDict(
    alias_generator=to_camel,
    validate_by_name=True,
    validate_by_alias=True,
    serialize_by_alias=True,
    frozen=True,
    defer_build=True,
    hide_input_in_errors=True,
)


class ClosedModel(BaseModel):
    """A part of the contract that knows all its keys."""

    model_config = ConfigDict(**_CONFIG, extra="forbid")


class OpenModel(BaseModel):
    """A part of the contract that may have keys of the user's own."""

    model_config = ConfigDict(**_CONFIG, extra="allow")


T = TypeVar("T")


class _Absent:
    """Makes None mean an absent key in Python, and refuses it in a document."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        schema = handler(source)
        if schema["type"] != "nullable":
            raise TypeError(f"Maybe[...] needs a type or None, not {source!r}")
        return core_schema.lax_or_strict_schema(
            lax_schema=schema, strict_schema=schema["schema"], strict=None
        )


Maybe = Annotated[T | None, _Absent()]


@dataclass(frozen=True)
class TextPattern:
    """A text that must match ``pattern`` (searched for, not anchored by itself).

    ``meaning`` says in words what is allowed, to follow "must be". ``words`` are the texts
    that a misspelt one may be compared with.
    """

    pattern: str
    meaning: str
    words: tuple[str, ...] = ()

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        search = re.compile(self.pattern).search

        def check(value: str) -> str:
            if search(value) is None:
                raise PydanticCustomError(
                    "shape", "{allowed}", {"allowed": self.meaning, "words": self.words}
                )
            return value

        return core_schema.no_info_after_validator_function(check, handler(source))


@dataclass(frozen=True)
class NumberRule:
    """A JSON number, kept as it was written: 1.0 is a whole number, True is none.

    ``low`` and ``high`` are inclusive; ``words`` are the only values allowed, if any.
    """

    whole: bool = False
    low: int | None = None
    high: int | None = None
    words: tuple[int, ...] = ()

    @property
    def meaning(self) -> str:
        """What is allowed, in words."""
        if self.words:
            return " or ".join(map(str, self.words))
        kind = "a whole number" if self.whole else "a number"
        if self.low is not None and self.high is not None:
            return f"{kind} from {self.low} to {self.high}"
        return kind if self.low is None else f"{kind}, {self.low} or more"

    def allows(self, value: object) -> bool:
        """Return whether the value, of any type, is such a number."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            return False
        if self.whole and isinstance(value, float) and not value.is_integer():
            return False
        if self.words and value not in self.words:
            return False
        # Put as "not below" rather than "at least", as JSON Schema does: NaN breaks no bound.
        below = self.low is not None and value < self.low
        above = self.high is not None and value > self.high
        return not below and not above

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def check(value: Any) -> int | float:
            if not self.allows(value):
                raise PydanticCustomError("number", "{allowed}", {"allowed": self.meaning})
            number: int | float = int(value) if self.whole else value
            return number

        return core_schema.no_info_plain_validator_function(check)


def _distinct(values: list[T]) -> list[T]:
    seen: set[T] = set()
    for index, value in enumerate(values):
        if value in seen:
            raise PydanticCustomError("repeated", "each value once", {"index": index})
        seen.add(value)
    return values


Number = Annotated[float, NumberRule()]
Share = Annotated[float, NumberRule(low=0, high=1)]
Percent = Annotated[float, NumberRule(low=0, high=100)]
Integer = Annotated[int, NumberRule(whole=True)]
Count = Annotated[int, NumberRule(whole=True, low=0)]
PositiveCount = Annotated[int, NumberRule(whole=True, low=1)]

NonEmptyText = Annotated[str, TextPattern(r"(?s).", "text that isn't empty")]
Identifier = Annotated[
    str,
    TextPattern(
        r"^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$",
        "an id of lower-case letters, digits, `_`, `.` and `-`, that doesn't begin or end with `.` "
        "or `-`",
    ),
]
SemVer = Annotated[
    str,
    TextPattern(
        r"^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$",
        "a semantic version such as `1.4.0`",
    ),
]
IsoDuration = Annotated[
    str,
    TextPattern(
        r"^P(?!$)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(\d+H)?(\d+M)?(\d+S)?)?$",
        "an ISO 8601 duration such as `P1D` or `PT15M`",
    ),
]
Tag = Annotated[
    str,
    TextPattern(
        r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$",
        "a kebab-case tag: lower-case letters, digits and `-` between them",
    ),
]
Distinct = AfterValidator(_distinct)
Tags = Annotated[list[Tag], Distinct]
Labels = dict[str, str]
FreeForm = dict[str, Any]


@cache
def _adapter(type_: Any) -> TypeAdapter[Any]:
    return TypeAdapter(type_)


def fits(type_: Any, value: object) -> bool:
    """Return whether a value of a document is of one of the contract's types."""
    try:
        _adapter(type_).validate_python(value, strict=True, by_alias=True, by_name=False)
    except ValidationError:
        return False
    return True


@dataclass(frozen=True)
class Problem:
    """What a rule over several keys of one part found, ``under`` keys of that part."""

    under: tuple[str, ...]
    message: str
    found: str
    allowed: str


def requires(*keys: str, under: tuple[str, ...] = (), of: str = "it") -> Problem:
    """Return the problem that none of the keys is present."""
    words = named(keys)
    return Problem(under, f"{of} needs {words}", f"no {words}", words)


def expects(what: str, *, under: tuple[str, ...], value: object) -> Problem:
    """Return the problem that the value under those keys is of the wrong type."""
    return Problem(under, f"must be {what}", type(value).__name__, what)


def problems(*broken: Problem) -> PydanticCustomError:
    """Return the error that carries them to the validator."""
    return PydanticCustomError("rules", "a rule is violated", {"problems": broken})


class TaggedModel(ClosedModel):
    """A closed part that may carry tags and labels; they are written after its own keys."""

    tags: Maybe[Tags] = None
    labels: Maybe[Labels] = None


def named(words: Sequence[str]) -> str:
    """Return words as a list of alternatives: "`a`, `b` or `c`"."""
    return listed((f"`{word}`" for word in words), "or")
