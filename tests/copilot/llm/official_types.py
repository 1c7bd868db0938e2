"""The check of a request's body by provider, against the types of its official client."""

from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from google.genai import types
from ollama._types import ChatRequest, Tool
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

from tests.copilot.llm.sdk_types import check_request


class MessagesWithTemperature(MessageCreateParamsNonStreaming, total=False):
    """What the version of 2023 takes: the current SDK has no sampling parameters."""

    temperature: float


def check_gemini(body):
    """Check a body against the client's types, whose configuration is flat."""
    flat = dict(body)
    for content in flat.pop("contents"):
        check_request(content, types.Content)
    check_request(flat.pop("generationConfig"), types.GenerateContentConfig)
    check_request(flat, types.GenerateContentConfig)


def check_ollama(body):
    """Check a body against the client's types, in which images are objects until they're sent."""
    messages = [_with_image_objects(message) for message in body["messages"]]
    open_types = (Tool.Function.Parameters, Tool.Function.Parameters.Property)
    check_request({**body, "messages": messages}, ChatRequest, open_types=open_types)


def _with_image_objects(message):
    images = [{"value": image} for image in message.get("images", ())]
    return {**message, "images": images} if images else message


CHECKS = {
    "anthropic": lambda body: check_request(body, MessagesWithTemperature),
    "openai": lambda body: check_request(body, CompletionCreateParamsNonStreaming),
    "gemini": check_gemini,
    "ollama": check_ollama,
}
