"""The requests that Google's server refuses, in its words.

The names are those of google-genai 3.4 for the Gemini API. Sources of the words: the thought
signatures page of ai.google.dev, googleapis/python-genai#867, google-gemini/gemini-cli#11814,
pipecat-ai/pipecat#5821.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

_Node: TypeAlias = Mapping[str, Any]

_BODY = frozenset(
    {
        "cachedContent", "contents", "continuationToken", "generationConfig", "labels", "model",
        "safetySettings", "serviceTier", "store", "systemInstruction", "toolConfig", "tools",
    }
)  # fmt: skip
_CONFIG = frozenset(
    {
        "audioTranscriptionConfig", "candidateCount", "enableEnhancedCivicAnswers",
        "frequencyPenalty", "imageConfig", "logprobs", "maxOutputTokens", "mediaResolution",
        "presencePenalty", "responseFormat", "responseJsonSchema", "responseLogprobs",
        "responseMimeType", "responseModalities", "responseSchema", "seed", "speechConfig",
        "stopSequences", "temperature", "thinkingConfig", "topK", "topP",
    }
)  # fmt: skip
_PART = frozenset(
    {
        "audioTranscription", "codeExecutionResult", "executableCode", "fileData", "functionCall",
        "functionResponse", "inlineData", "mediaProcessing", "mediaResolution", "partMetadata",
        "text", "thought", "thoughtSignature", "toolCall", "toolResponse", "videoMetadata",
    }
)  # fmt: skip
_REFUSES_PREFILL = re.compile(r"gemini-(?:3\.[2-9]|[4-9]|\d\d)")
_FUNCTION_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")


def signs_calls(path: str) -> bool:
    """Return whether the model in the path is Gemini 3 or later, which signs and checks calls."""
    return bool(re.search(r"gemini-(?:[3-9]|\d\d)", path))


def refuse(headers: Mapping[str, str], body: dict[str, Any]) -> str | None:
    """Return what the server says about a request that it refuses, else None."""
    path = headers.get(":path", "")
    is_third = signs_calls(path)
    problems = (
        *(_unknown_names(body) if "/publishers/" not in path else ()),  # Vertex AI has others
        *_wrong_turns(body.get("contents")),
        *_wrong_functions(body, allows_both=is_third),
        *(_unsigned_calls(body["contents"]) if is_third and body.get("contents") else ()),
        *(_open_answer(body.get("contents")) if _REFUSES_PREFILL.search(path) else ()),
    )
    return next(iter(problems), None)


def _unknown_names(body: _Node) -> Iterator[str]:
    parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
    for path, node, known in (
        ("", body, _BODY),
        (" at 'generation_config'", body.get("generationConfig", {}), _CONFIG),
        *((" at 'contents.parts'", part, _PART) for part in parts),
    ):
        for name in node.keys() - known:
            yield f'Invalid JSON payload received. Unknown name "{name}"{path}: Cannot find field.'


def _wrong_turns(contents: Any) -> Iterator[str]:
    if not contents:
        yield "* GenerateContentRequest.contents: contents is not specified"
        return
    is_after_user, calls = False, 0
    for number, content in enumerate(contents):
        parts = content.get("parts")
        if content.get("role", "user") not in ("user", "model"):
            yield "Please use a valid role: user, model."
        if not parts:
            yield (
                f"* GenerateContentRequest.contents[{number}].parts: contents.parts must not be "
                "empty."
            )
            return
        results = sum("functionResponse" in part for part in parts)
        if results != calls:
            yield (
                "Please ensure that the number of function response parts is equal to the number "
                "of function call parts of the function call turn."
            )
        calls = sum("functionCall" in part for part in parts)
        if calls and not is_after_user:
            yield (
                "Please ensure that function call turn comes immediately after a user turn or "
                "after a function response turn."
            )
        is_after_user = content.get("role", "user") == "user"
    if calls:
        yield "Please ensure that function call turn is followed by a function response turn."


def _wrong_functions(body: _Node, *, allows_both: bool) -> Iterator[str]:
    config = body.get("generationConfig", {})
    is_json = config.get("responseMimeType") == "application/json"
    if "responseJsonSchema" in config and not is_json:
        yield "response_json_schema is only allowed with the response mime type application/json"
    declarations = [
        function
        for tool in body.get("tools", [])
        for function in tool.get("functionDeclarations", [])
    ]
    for function in declarations:
        if not _FUNCTION_NAME.fullmatch(str(function.get("name"))):
            yield (
                "Invalid function name. Must start with a letter or an underscore. Must be "
                "alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes "
                "(-), with a maximum length of 128."
            )
    if declarations and is_json and not allows_both:
        yield "Function calling with a response mime type: 'application/json' is unsupported"


def _unsigned_calls(contents: list[_Node]) -> Iterator[str]:
    """Yield a refusal where the first call of a step since the user's last text isn't signed."""
    texts = [
        number
        for number, content in enumerate(contents)
        if content.get("role", "user") == "user"
        and not any("functionResponse" in part for part in content["parts"])
    ]
    for content in contents[texts[-1] if texts else 0 :]:
        call = next((part for part in content["parts"] if "functionCall" in part), None)
        if call is not None and not call.get("thoughtSignature"):
            yield (
                "Function call is missing a thought_signature in functionCall parts. This is "
                "required for tools to work correctly, and missing thought_signature may lead to "
                "degraded model performance."
            )


def _open_answer(contents: list[_Node] | None) -> Iterator[str]:
    if contents and contents[-1].get("role") == "model":
        yield "Requests ending with a model turn are not supported."
