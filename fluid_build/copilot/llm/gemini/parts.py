"""The parts of Gemini's contents: texts, calls, results, attachments and thought signatures.

A signature is the model's hidden thinking, encrypted. Google wants each one back in the part that
it came in, and no such part merged with another (ai.google.dev/gemini-api/docs/thought-signatures).
Calls keep their own; the signatures of texts become provider blocks:

- ``{"thoughtSignature": ...}`` belongs to the text right before it
- ``{}`` only ends the text before it, which has no signature
- any other block is a whole part, such as a thought or a call of one of Google's own tools
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from fluid_build.copilot.llm.alternating_turns import TurnPart
from fluid_build.copilot.llm.base import call_id, check_image_type
from fluid_build.copilot.messages import Attachment, ProviderBlock, ToolCall, ToolResult
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject, JsonValue

_NO_SIGNATURE = "skip_thought_signature_validator"
"""The documented signature for calls that Gemini didn't write itself; without one, Gemini 3
refuses the first call of a step."""

_IMAGE_TYPES = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
"""Source: "Image understanding" on ai.google.dev and docs.cloud.google.com."""


@dataclass(slots=True)
class AnswerParts:
    """What an answer consists of."""

    text: str = ""
    thinking: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    blocks: list[ProviderBlock] = field(default_factory=list)


def read_parts(parts: JsonValue, body: JsonObject) -> AnswerParts:
    """Return what the parts of an answer say. ``body`` is what ids are made of where none came."""
    answer = AnswerParts()
    can_extend_text = True
    for index, part in enumerate(parts if isinstance(parts, list) else []):
        if not isinstance(part, Mapping):
            continue
        function, text, signature = part.get("functionCall"), part.get("text"), _signature(part)
        if isinstance(function, Mapping):
            own_id = str(function.get("id") or call_id(body, index))
            answer.calls.append(_read_call(function, own_id, signature))
            can_extend_text = False
        elif isinstance(text, str) and not part.get("thought"):
            if text and not can_extend_text:
                _add_block(answer, {})
            if text and signature and answer.text:
                _end_unsigned_text(answer)
            answer.text += text
            if signature:
                own_part = {} if text else {"text": ""}
                _add_block(answer, {**own_part, "thoughtSignature": signature})
            can_extend_text |= bool(text or signature)
        else:
            if part.get("thought"):
                answer.thinking += text if isinstance(text, str) else ""
            _add_block(answer, part)
            can_extend_text = True
    return answer


def render_parts(parts: Iterable[TurnPart], *, sign_calls: bool) -> list[dict[str, JsonValue]]:
    """Return the parts of a turn. ``sign_calls`` signs its first call if it has no signature."""
    rendered: list[dict[str, JsonValue]] = []
    is_after_text = False
    for part in parts:
        if isinstance(part, ProviderBlock):
            if part.block.keys() != {"thoughtSignature"}:
                rendered += [dict(part.block)] if part.block else []
            elif is_after_text:
                rendered[-1] = {**rendered[-1], **part.block}
            else:  # its text was removed since
                rendered.append({"text": "", **part.block})
        else:
            rendered.append(_render_part(part))
        is_after_text = isinstance(part, str)
    first_call = next((part for part in rendered if "functionCall" in part), None)
    if sign_calls and first_call is not None:
        first_call.setdefault("thoughtSignature", _NO_SIGNATURE)
    return rendered


def result_part(result: ToolResult, names: Mapping[str, str]) -> dict[str, JsonValue]:
    """Return a tool's result; ``names`` has the functions' names by the ids of their calls."""
    response: dict[str, JsonValue] = {
        "name": result.name or names.get(result.call_id, result.call_id),
        "response": {"error" if result.is_error else "output": result.content},
    }
    if result.attachments:
        response["parts"] = [_render_attachment(part) for part in result.attachments]
    if result.call_id:
        response["id"] = result.call_id
    return {"functionResponse": response}


def _read_call(function: JsonObject, own_id: str, signature: str | None) -> ToolCall:
    arguments = function.get("args")
    return ToolCall(
        own_id,
        str(function.get("name", "")),
        dict(arguments) if isinstance(arguments, Mapping) else {},
        signature,
    )


def _signature(part: JsonObject) -> str | None:
    signature = part.get("thoughtSignature")
    return signature if isinstance(signature, str) and signature else None


def _end_unsigned_text(answer: AnswerParts) -> None:
    """Keep the text so far from getting the signature of the text that follows."""
    last = answer.blocks[-1] if answer.blocks else None
    if last is None or last.after_text < len(answer.text):
        _add_block(answer, {})


def _add_block(answer: AnswerParts, block: JsonObject) -> None:
    answer.blocks.append(ProviderBlock(block, len(answer.text), len(answer.calls)))


def _render_part(part: str | ToolCall | Attachment) -> dict[str, JsonValue]:
    if isinstance(part, str):
        return {"text": part}
    if isinstance(part, Attachment):
        return _render_attachment(part)
    call: dict[str, JsonValue] = {"name": part.name, "args": part.arguments}
    if part.id:
        call["id"] = part.id
    rendered: dict[str, JsonValue] = {"functionCall": call}
    if part.signature is not None:
        rendered["thoughtSignature"] = part.signature
    return rendered


def _render_attachment(attachment: Attachment) -> dict[str, JsonValue]:
    """Return the data, or the address, which may be of any public file since 2026."""
    check_image_type(attachment, "Gemini", _IMAGE_TYPES)
    if attachment.data:
        return {"inlineData": {"mimeType": attachment.media_type, "data": attachment.data}}
    address = urlsplit(attachment.url)
    if address.scheme not in ("https", "http", "gs"):
        raise UsageError(
            "Gemini can't read an attachment from this address.",
            hint="Give an https or gs address, or the file itself as base64 data.",
        )
    media_type = attachment.media_type or mimetypes.guess_type(address.path)[0]
    file: dict[str, JsonValue] = {"fileUri": attachment.url}
    if media_type:
        file["mimeType"] = media_type
    return {"fileData": file}
