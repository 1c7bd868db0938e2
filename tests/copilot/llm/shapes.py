"""The requests that each provider documents, as closed JSON schemas of the part we use.

Sources: the public API references for OpenAI's Chat Completions,
Google's models.generateContent (v1beta) and Ollama's /api/chat.
"""

TEXT = {"type": "string"}
OBJECT = {"type": "object"}


def closed(required, optional=None):
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


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

SHAPES = {"openai": OPENAI, "gemini": GEMINI, "ollama": OLLAMA}
