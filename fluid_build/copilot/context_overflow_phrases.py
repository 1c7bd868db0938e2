"""The phrases with which providers and servers say that a prompt doesn't fit the model's window.

Most answer a plain 400 without a code of their own, so their message is all that there is. Each
phrase is what the server writes itself, around numbers and names. Where it was seen:

- earendil-works/pi#129 and #5929: Anthropic, OpenAI, Google, xAI, Groq, OpenRouter, llama.cpp,
  LM Studio, vLLM 0.8 and later, all tried with prompts that are too long
- vllm-project/vllm#525, #4667, #12165, #20409 and #33418: vLLM, earlier and later words
- lmstudio-ai/lmstudio-bug-tracker#546 and #2205, anomalyco/opencode#11141: LM Studio
- cline/cline#3120: xAI
- cohere-ai/sandbox-topically#4, openclaw/openclaw#58839: Cohere, Bedrock and Ollama
- openclaw/openclaw#64196: llama.cpp's server
- stanford-crfm/helm#2079: Together and other servers of text-generation-inference
- OpenHands/OpenHands#1902: Groq
- Sylinko/Everywhere#137: DeepSeek
- jin-bo/agentao#88: Mistral, Kimi, and that Bedrock says "Too many tokens, please wait" of a rate
- jjleng/copilot-more#35: GitHub's proxy
- ``llm/llama_server.go`` and ``x/mlxrunner/pipeline.go`` in ollama/ollama: Ollama
"""

from __future__ import annotations

import re

_PHRASES = (
    # OpenAI, and after its example OpenRouter, DeepSeek, Together, Mistral and vLLM
    r"context_length_exceeded",
    r"maximum context length",
    r"context length (?:was |has been )?exceeded",
    r"reduce the length of the (?:messages|input|prompt)",
    r"exceed(?:s|ed)? (?:the |this model's |the model's )?(?:available |maximum |max )?"
    r"context (?:limit|length|window|size)",
    # Anthropic, OpenRouter and Ollama's cloud
    r"prompt (?:is )?too long",
    # Google
    r"input token count[^.]{0,60}exceeds the maximum number of tokens",
    # Bedrock
    r"input is too long for (?:the |this )?(?:requested )?model",
    r"ValidationException: (?:the )?input is too long",
    r"exceeds the max input token limit",
    # vLLM
    r"longer than the maximum model length",
    r"context length is only \d+",
    r"too long to fit into the model",
    r"prompt \(\d+ tokens\) is too long",
    r"max_tokens must be at least 1, got -\d",
    # LM Studio and llama.cpp's server
    r"tokens to keep from the initial prompt is greater than the context length",
    r"trying to keep the first \d+ tokens when context the overflows",
    r"cannot truncate prompt with n_keep",
    r"context size has been exceeded",
    # Ollama
    r"prompt is longer than the context length",
    # xAI
    r"maximum prompt length is \d+",
    # Cohere
    r"too many tokens: (?:total number of tokens|size limit exceeded)",
    r"total tokens exceeds the model's max",
    # Mistral
    r"\d tokens[^.]{0,40}too large for model with",
    # Together and text-generation-inference
    r"`inputs` tokens \+ `max_new_tokens` must be <=",
    # GitHub's proxy, Kimi and MiniMax
    r"prompt token count of \d+ exceeds the limit",
    r"exceeded model token limit",
    r"context window exceeds limit",
)
_TOO_LONG = re.compile("|".join(_PHRASES), re.IGNORECASE)

_WINDOW = re.compile(r"context length is (?:only )?(\d+)|context limit: \d+ \+ \d+ > (\d+)", re.I)
_OUTPUT = re.compile(
    r"max_(?:completion_)?tokens'? is too large: (\d+)"
    r"|requested (\d+) output tokens"
    r"|(\d+) (?:in|for) the completion"
    r"|context limit: \d+ \+ (\d+)",
    re.IGNORECASE,
)


def says_prompt_is_too_long(message: str) -> bool:
    """Return whether a shorter prompt would help, by the provider's message.

    It wouldn't where the answer alone was to be as long as the window: that is a wrong limit.
    """
    if not _TOO_LONG.search(message):
        return False
    window, output = _number(_WINDOW, message), _number(_OUTPUT, message)
    return window is None or output is None or output < window


def _number(pattern: re.Pattern[str], message: str) -> int | None:
    match = pattern.search(message)
    return next((int(group) for group in match.groups() if group), None) if match else None
