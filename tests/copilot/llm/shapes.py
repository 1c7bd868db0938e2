"""The requests that each provider documents, as closed JSON schemas of the part we use.

Sources: the public API references for Anthropic's Messages (2023-06-01), OpenAI's Chat Completions,
Google's models.generateContent (v1beta) and Ollama's /api/chat.
"""

TEXT = {"type": "string"}
FULL_TEXT = {"type": "string", "pattern": r"\S"}
OBJECT = {"type": "object"}
CACHE = {"const": {"type": "ephemeral"}}


def closed(required, optional=None):
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


ANTHROPIC_TOOL = closed(
    {
        "name": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,128}$"},
        "input_schema": {"type": "object", "required": ["type"]},
    },
    {"description": TEXT, "cache_control": CACHE},
)
ANTHROPIC_BLOCKS = {
    "type": "array",
    "minItems": 1,
    "items": {
        "oneOf": [
            closed({"type": {"const": "text"}, "text": FULL_TEXT}, {"cache_control": CACHE}),
            closed(
                {
                    "type": {"const": "tool_use"},
                    "id": {"type": "string", "pattern": "^[a-zA-Z0-9_-]+$"},
                    "name": TEXT,
                    "input": OBJECT,
                },
                {"cache_control": CACHE},
            ),
            closed(
                {
                    "type": {"const": "tool_result"},
                    "tool_use_id": {"type": "string", "pattern": "^[a-zA-Z0-9_-]+$"},
                },
                {"content": TEXT, "is_error": {"type": "boolean"}, "cache_control": CACHE},
            ),
        ]
    },
}
ANTHROPIC = closed(
    {
        "model": TEXT,
        "max_tokens": {"type": "integer", "minimum": 1},
        "messages": {
            "type": "array",
            "minItems": 1,
            "items": closed({"role": {"enum": ["user", "assistant"]}, "content": ANTHROPIC_BLOCKS}),
        },
    },
    {
        "system": {
            "type": "array",
            "items": closed(
                {"type": {"const": "text"}, "text": FULL_TEXT}, {"cache_control": CACHE}
            ),
        },
        "temperature": {"type": "number"},
        "tools": {"type": "array", "items": ANTHROPIC_TOOL},
        "tool_choice": {
            "oneOf": [
                closed({"type": {"enum": ["auto", "any", "none"]}}),
                closed({"type": {"const": "tool"}, "name": TEXT}),
            ]
        },
    },
)

OPENAI_TOOL = closed(
    {
        "type": {"const": "function"},
        "function": closed(
            {"name": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}},
            {"description": TEXT, "parameters": OBJECT},
        ),
    }
)
OPENAI_MESSAGE = {
    "oneOf": [
        closed({"role": {"enum": ["system", "user"]}, "content": TEXT}),
        closed({"role": {"const": "tool"}, "tool_call_id": TEXT, "content": TEXT}),
        closed(
            {"role": {"const": "assistant"}},
            {
                "content": {"type": ["string", "null"]},
                "tool_calls": {
                    "type": "array",
                    "minItems": 1,
                    "items": closed(
                        {
                            "id": TEXT,
                            "type": {"const": "function"},
                            "function": closed({"name": TEXT, "arguments": TEXT}),
                        }
                    ),
                },
            },
        ),
    ]
}
OPENAI = closed(
    {"model": TEXT, "messages": {"type": "array", "minItems": 1, "items": OPENAI_MESSAGE}},
    {
        "max_tokens": {"type": "integer"},
        "max_completion_tokens": {"type": "integer"},
        "temperature": {"type": "number"},
        "tools": {"type": "array", "items": OPENAI_TOOL},
        "response_format": closed(
            {
                "type": {"const": "json_schema"},
                "json_schema": closed(
                    {"name": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}},
                    {"schema": OBJECT, "strict": {"type": "boolean"}, "description": TEXT},
                ),
            }
        ),
    },
)

GEMINI_PARTS = {
    "type": "array",
    "minItems": 1,
    "items": {
        "oneOf": [
            closed({"text": TEXT}),
            closed(
                {"functionCall": closed({"name": TEXT}, {"args": OBJECT, "id": TEXT})},
                {"thoughtSignature": TEXT},
            ),
            closed({"functionResponse": closed({"name": TEXT, "response": OBJECT}, {"id": TEXT})}),
        ]
    },
}
GEMINI = closed(
    {
        "contents": {
            "type": "array",
            "minItems": 1,
            "items": closed({"role": {"enum": ["user", "model"]}, "parts": GEMINI_PARTS}),
        }
    },
    {
        "systemInstruction": closed({"parts": GEMINI_PARTS}),
        "tools": {
            "type": "array",
            "items": closed(
                {
                    "functionDeclarations": {
                        "type": "array",
                        "items": closed(
                            {"name": TEXT, "description": TEXT}, {"parametersJsonSchema": OBJECT}
                        ),
                    }
                }
            ),
        },
        "toolConfig": closed(
            {"functionCallingConfig": closed({"mode": {"enum": ["AUTO", "ANY", "NONE"]}})}
        ),
        "generationConfig": closed(
            {},
            {
                "maxOutputTokens": {"type": "integer"},
                "temperature": {"type": "number"},
                "responseMimeType": {"const": "application/json"},
                "responseJsonSchema": OBJECT,
            },
        ),
    },
)

OLLAMA_MESSAGE = {
    "oneOf": [
        closed({"role": {"enum": ["system", "user"]}, "content": TEXT}),
        closed({"role": {"const": "tool"}, "content": TEXT}, {"tool_name": TEXT}),
        closed(
            {"role": {"const": "assistant"}, "content": TEXT},
            {
                "tool_calls": {
                    "type": "array",
                    "items": closed({"function": closed({"name": TEXT, "arguments": OBJECT})}),
                }
            },
        ),
    ]
}
OLLAMA = closed(
    {"model": TEXT, "messages": {"type": "array", "minItems": 1, "items": OLLAMA_MESSAGE}},
    {
        "stream": {"const": False},
        "format": OBJECT,
        "options": closed(
            {"num_predict": {"type": "integer"}, "num_ctx": {"type": "integer", "minimum": 1}},
            {"temperature": {"type": "number"}},
        ),
        "tools": {"type": "array", "items": OPENAI_TOOL},
    },
)

SHAPES = {"anthropic": ANTHROPIC, "openai": OPENAI, "gemini": GEMINI, "ollama": OLLAMA}
