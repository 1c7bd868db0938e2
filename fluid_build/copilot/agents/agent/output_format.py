"""The form of an agent's final answer: text, or JSON that Pydantic reads into a type."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, cast

from pydantic import PydanticUserError, TypeAdapter, ValidationError, create_model

from fluid_build.copilot.errors import SchemaValidationError
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
        self._adapter, self.schema = adapter, schema

    def read(self, text: str) -> OutputT:
        """Return the answer. Raises ``SchemaValidationError``, which quotes no input."""
        if self._adapter is None:
            return cast("OutputT", text)
        try:
            answer = self._adapter.validate_json(text)
        except ValidationError as error:
            faults = error.errors(include_input=False, include_url=False, include_context=False)
        else:
            return cast("OutputT", answer.result if self._is_wrapped else answer)
        raise SchemaValidationError(
            f"The answer violates the schema {self.schema_name} in "
            f"{counted(len(faults), 'place')}.",
            schema_name=self.schema_name,
            validation_errors=faults,
            raw_output=text,
        )
