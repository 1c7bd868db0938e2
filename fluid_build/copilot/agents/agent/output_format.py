"""The form of an agent's final answer: text, or JSON that Pydantic reads into a type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar, cast

from pydantic import PydanticUserError, TypeAdapter, ValidationError, create_model
from pydantic_core import from_json

from fluid_build.copilot.errors import SchemaValidationError
from fluid_build.copilot.tools.argument_schemas import find_faults
from fluid_build.json_types import JsonObject
from fluid_build.text import counted

OutputT = TypeVar("OutputT")


class OutputFormat(Generic[OutputT]):
    """The schema of an answer, and how it is read.

    Providers take schemas of objects only, so a list, a union or a number is wrapped into one.
    ``schema`` is None for text. Raises ``TypeError`` for a type that Pydantic can't validate.
    """

    def __init__(self, output: Any) -> None:
        self.schema: JsonObject | None = None
        self.schema_name = getattr(output, "__name__", "answer")
        self._adapter: TypeAdapter[Any] | None = None
        self._is_wrapped = False
        self.type: Any = None
        """What the fields of an answer are of; None for a text."""
        if output is str:
            return
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(output)
            schema = adapter.json_schema()
        except (PydanticUserError, NameError, TypeError) as error:
            raise TypeError(
                f"Pydantic can't read an answer of type {output!r}; one of several types is A | B."
            ) from error
        self._is_wrapped = schema.get("type") != "object" or "properties" not in schema
        if self._is_wrapped:
            wrapper = create_model("Answer", result=(output, ...))
            adapter, schema = TypeAdapter(wrapper), wrapper.model_json_schema()
        self._adapter, self.schema, self.type = adapter, schema, output

    @classmethod
    def of_schema(cls, schema: JsonObject) -> OutputFormat[Any]:
        """Return the format of an answer that is the text of an object of a JSON schema."""
        output: OutputFormat[Any] = cls(str)
        output.schema = schema
        output.schema_name = str(schema.get("title") or "answer")
        return output

    def read(self, text: str) -> OutputT:
        """Return the answer. Raises ``SchemaValidationError``, which quotes no input."""
        if self._adapter is None:
            faults: Sequence[Any] = () if self.schema is None else _faults(self.schema, text)
            if faults:
                raise self._violated(text, faults)
            return cast("OutputT", text)
        try:
            answer = self._adapter.validate_json(text)
        except ValidationError as error:
            faults = error.errors(include_input=False, include_url=False, include_context=False)
        else:
            return cast("OutputT", answer.result if self._is_wrapped else answer)
        raise self._violated(text, faults)

    def _violated(self, text: str, faults: Sequence[Any]) -> SchemaValidationError:
        return SchemaValidationError(
            f"The answer violates the schema {self.schema_name} in "
            f"{counted(len(faults), 'place')}.",
            schema_name=self.schema_name,
            validation_errors=faults,
            raw_output=text,
        )


def _faults(schema: JsonObject, text: str) -> list[dict[str, Any]]:
    """Return where an answer breaks a JSON schema, as Pydantic says it."""
    try:
        answer = from_json(text)
    except ValueError:
        return [{"loc": (), "msg": "it isn't JSON", "type": "json_invalid"}]
    if not isinstance(answer, dict):
        return [{"loc": (), "msg": "it isn't an object", "type": "dict_type"}]
    faults = (fault.partition(": ") for fault in find_faults(schema, answer))
    return [
        {"loc": tuple(filter(None, path.split("/"))), "msg": message, "type": "schema"}
        for path, _, message in faults
    ]
