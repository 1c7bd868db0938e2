"""The form of an agent's final answer: text, or JSON that Pydantic reads into a type.

A typed answer is asked for by the provider's own means, by a tool, or in words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast, get_args

from pydantic import PydanticUserError, TypeAdapter, ValidationError, create_model
from pydantic_core import from_json

from fluid_build.copilot.errors import SchemaValidationError
from fluid_build.copilot.llm.answers import LlmResponse
from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.tools.argument_schemas import find_faults
from fluid_build.errors import UsageError
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


OutputMode: TypeAlias = Literal["native", "tool", "prompted"]
"""``native``: as the provider takes a schema. ``tool``: the answer is the arguments of a tool.
``prompted``: the instructions have the schema, for servers that take neither."""

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


def check_mode(mode: str) -> None:
    """Raise ``UsageError`` for a mode that there isn't."""
    if mode not in get_args(OutputMode):
        raise UsageError(
            f"There is no output mode {mode!r}.",
            hint=f"The modes are {', '.join(get_args(OutputMode))}.",
        )


def in_mode(prompt: LlmPrompt, mode: OutputMode) -> LlmPrompt:
    """Return the prompt with its schema where the mode puts it."""
    if prompt.response_schema is None or mode == "native":
        return prompt
    if mode == "tool":
        return replace(prompt, tools=[*prompt.tools, prompt.answer_tool], response_schema=None)
    schema = json.dumps(prompt.response_schema)
    asked = f"Give your final answer as JSON alone, which fits this schema:\n{schema}"
    system = f"{prompt.system}\n\n{asked}" if prompt.system else asked
    return replace(prompt, system=system, response_schema=None)


def read_answer(response: LlmResponse, prompt: LlmPrompt, mode: OutputMode) -> LlmResponse:
    """Return an answer as the native mode gives it: its text is JSON, and nothing is called.

    ``prompt`` is the one before ``in_mode``. Calls beside an answer aren't made.
    """
    if prompt.response_schema is None or mode == "native":
        return response
    if mode == "tool":
        for call in response.tool_calls:
            if call.name == prompt.answer_name:
                # Without the parts that announce the call: no result will follow it.
                text = json.dumps(call.arguments, ensure_ascii=False)
                return replace(
                    response, text=text, tool_calls=(), provider_blocks=(), stop_reason="end"
                )
        return response
    if response.tool_calls:
        return response
    return replace(response, text=_json_part(response.text))


def _json_part(text: str) -> str:
    """Return the JSON in a text: what a fence encloses, or from the first brace to the last."""
    fenced = _FENCED.search(text)
    if fenced is not None:
        return fenced.group(1).strip()
    first, last = text.find("{"), text.rfind("}")
    return text[first : last + 1] if 0 <= first < last else text
