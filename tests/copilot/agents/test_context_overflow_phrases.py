"""Prompts that don't fit, in the words of each provider, and words that only look like it."""

import httpx
import pytest

from fluid_build.copilot.agents.error_classification import classify_response
from fluid_build.copilot.context_overflow_phrases import says_prompt_is_too_long
from fluid_build.copilot.error_classification import classify_error_document
from fluid_build.copilot.errors import ContextOverflowError, ProviderError, RateLimitError

TOO_LONG = {
    "anthropic": "prompt is too long: 250000 tokens > 200000 maximum",
    "anthropic, with the answer": "input length and `max_tokens` exceed context limit: "
    "190000 + 20000 > 200000, decrease one of them",
    "openai": "This model's maximum context length is 8192 tokens. However, your messages "
    "resulted in 9000 tokens.",
    "openai responses": "Your input exceeds the context window of this model.",
    "openrouter": "This endpoint's maximum context length is 32768 tokens. However, you requested "
    "about 50000 tokens (49000 of text input, 1000 in the output).",
    "deepseek": "This model's maximum context length is 131072 tokens. However, you requested "
    "168308 tokens (168308 in the messages, 0 in the completion).",
    "google": "The input token count (1200000) exceeds the maximum number of tokens allowed "
    "(1048575).",
    "bedrock": "Input is too long for requested model.",
    "bedrock, through a proxy": "ValidationException: The input is too long",
    "bedrock, by tokens": "ValidationException: Input exceeds the max input token limit",
    "vllm": "This model's maximum context length is 4096 tokens. However, you requested 5000 "
    "tokens (4900 in the messages, 100 in the completion).",
    "vllm, decoder": "The decoder prompt (length 5016) is longer than the maximum model length of "
    "4096.",
    "vllm 0.10": "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum "
    "context length is 8192 tokens and your request has 7000 input tokens (2000 > 8192 - 7000).",
    "vllm 0.12": "You passed 8001 input tokens and requested 200 output tokens. However, the "
    "model's context length is only 8192 tokens, resulting in a maximum input length of 7992.",
    "vllm 0.17": "This model's maximum context length is 262144 tokens. However, you requested 0 "
    "output tokens and your prompt contains at least 262145 input tokens.",
    "vllm, images": "The prompt (total length 25938) is too long to fit into the model (context "
    "length 4096).",
    "vllm, nothing left": "max_tokens must be at least 1, got -186.",
    "lm studio": "The number of tokens to keep from the initial prompt is greater than the context "
    "length (n_keep: 13055>= n_ctx: 4096).",
    "lm studio 0.3": "Trying to keep the first 15857 tokens when context the overflows. However, "
    "the model is loaded with context length of only 8000 tokens.",
    "lm studio 0.4": "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)",
    "llama.cpp": "request (66202 tokens) exceeds the available context size (65536 tokens), try "
    "increasing it",
    "llama.cpp, full": "Context size has been exceeded.",
    "ollama": "the prompt is longer than the context length currently available to the model",
    "ollama on mlx": "input length (9000 tokens) exceeds the model's maximum context length (8192 "
    "tokens)",
    "ollama, remote": "prompt too long; exceeded max context length by 12 tokens",
    "xai": "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
    "cohere": "too many tokens: total number of tokens (prompt and prediction) cannot exceed 4096 "
    "- received 6354.",
    "cohere v2": "too many tokens: size limit exceeded by 345 tokens.",
    "cohere, by model": "total tokens exceeds the model's max of 4096",
    "groq": "Please reduce the length of the messages or completion.",
    "mistral": "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 "
    "maximum context length",
    "together": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. "
    "Given: 2019 `inputs` tokens and 30 `max_new_tokens`",
    "github": "prompt token count of 93854 exceeds the limit of 90000",
    "kimi": "Invalid request: Your request exceeded model token limit: 131072",
    "minimax": "invalid params, context window exceeds limit (2013)",
}
NOT_TOO_LONG = [
    "column 429 not found in context",
    "unknown field context_window",
    "the context was cancelled",
    "request context deadline exceeded",
    "context length must be a positive number",
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
    "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
    "`max_tokens` must be less than or equal to `16384`",
    "max_tokens must be at least 1, got 0.",
    "Too many tokens, please wait before trying again.",
    "Rate limit reached: 30000 tokens per minute exceeded",
    "property 'name' is too long: at most 64 characters",
    "the image exceeds the limit of 5 MB",
    "tools.0.description: the input is too long",
]
WRONG_OUTPUT_LIMITS = [
    "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context "
    "length is 8192 tokens and your request has 1210 input tokens (8192 > 8192 - 1210).",
    "This model's maximum context length is 4097 tokens. However, you requested 10116 tokens (116 "
    "in the messages, 10000 in the completion).",
    "You passed 10 input tokens and requested 9000 output tokens. However, the model's context "
    "length is only 8192 tokens.",
    "input length and `max_tokens` exceed context limit: 100 + 300000 > 200000",
]


@pytest.mark.parametrize("message", TOO_LONG.values(), ids=TOO_LONG)
@pytest.mark.parametrize(
    "form",
    [
        lambda message: {"error": {"message": message, "code": 400}},
        lambda message: {"error": message},
        lambda message: {"message": message},
    ],
    ids=["object", "text", "flat"],
)
def test_a_prompt_that_is_too_long_is_recognized(message, form):
    """In each form of an error's body."""
    error = classify_response(httpx.Response(400, json=form(message)), "p")
    assert type(error) is ContextOverflowError


@pytest.mark.parametrize("message", TOO_LONG.values(), ids=TOO_LONG)
def test_a_prompt_that_is_too_long_is_recognized_inside_an_answer(message):
    """LM Studio and Ollama report it after the stream began."""
    assert type(classify_error_document({"error": message}, "p")) is ContextOverflowError


def test_llama_cpp_has_a_code_for_it():
    """Whatever it says."""
    error = {"code": 400, "message": "no", "type": "exceed_context_size_error", "n_ctx": 512}
    assert type(classify_response(httpx.Response(400, json={"error": error}))) is (
        ContextOverflowError
    )


@pytest.mark.parametrize("message", [*NOT_TOO_LONG, *WRONG_OUTPUT_LIMITS])
def test_other_words_about_length_are_plain_errors(message):
    """A shorter prompt wouldn't help."""
    assert not says_prompt_is_too_long(message)
    error = classify_response(httpx.Response(400, json={"error": {"message": message}}))
    assert type(error) is ProviderError


def test_a_limit_by_the_minute_stays_a_rate_limit():
    """Bedrock's words for it begin like Cohere's for a prompt that is too long."""
    body = {"message": "Too many tokens, please wait before trying again."}
    assert type(classify_response(httpx.Response(429, json=body))) is RateLimitError


def test_ollamas_error_inside_an_answer_has_its_status():
    """It is next to the message."""
    error = classify_error_document({"error": "model not found", "status": 404}, "ollama")
    assert (type(error), error.status_code) == (ProviderError, 404)
