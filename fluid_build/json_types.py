"""The types of JSON values: what a parser returns, and what can be written as JSON."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

JsonValue: TypeAlias = (
    Mapping[str, "JsonValue"] | Sequence["JsonValue"] | str | int | float | bool | None
)
JsonObject: TypeAlias = Mapping[str, JsonValue]
