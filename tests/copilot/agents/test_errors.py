"""The typed errors: their tree, their attributes, and what the envelope may retry."""

import pickle
import re

import pytest

from fluid_build.copilot import errors as runtime_errors
from fluid_build.copilot.agents import errors
from fluid_build.errors import FluidError

RETRYABLE = {errors.RateLimitError, errors.ProviderTimeoutError, errors.ProviderServerError}
PROVIDER_ERRORS = [
    errors.ProviderError,
    errors.RateLimitError,
    errors.ProviderTimeoutError,
    errors.ContextOverflowError,
    errors.ProviderAuthError,
    errors.ProviderServerError,
]
AGENT_ERRORS = [*PROVIDER_ERRORS, errors.SchemaValidationError, errors.ToolValidationError]


@pytest.mark.parametrize("kind", AGENT_ERRORS)
def test_every_error_descends_from_the_documented_line(kind):
    """Callers that catch FluidError, FluidGenerationError or AgentExecutionError still work."""
    for parent in (errors.AgentExecutionError, errors.FluidGenerationError, FluidError):
        assert issubclass(kind, parent)


def test_the_tree_has_the_documented_shape():
    """Each class hangs directly under the parent that the page shows."""
    assert errors.FluidGenerationError.__bases__ == (FluidError,)
    assert errors.AgentExecutionError.__bases__ == (errors.FluidGenerationError,)
    assert errors.ProviderError.__bases__ == (errors.AgentExecutionError,)
    assert all(kind.__bases__ == (errors.ProviderError,) for kind in PROVIDER_ERRORS[1:])
    assert errors.SchemaValidationError.__bases__ == (errors.AgentExecutionError,)
    assert errors.ToolValidationError.__bases__ == (errors.AgentExecutionError,)


def test_the_module_opens_with_the_tree_of_its_classes():
    tree: list[tuple[int, str]] = []
    parents = {}
    for column, name in re.findall(
        r"^( +(?:│ *)*(?:[├└]── )?)([A-Z]\w+)\b", runtime_errors.__doc__, re.M
    ):
        while tree and tree[-1][0] >= len(column):
            tree.pop()
        parents[name] = tree[-1][1] if tree else None
        tree.append((len(column), name))
    classes = [kind for kind in vars(runtime_errors).values() if isinstance(kind, type)]
    bases = {
        kind.__name__: kind.__bases__[0].__name__
        for kind in classes
        if issubclass(kind, FluidError)
    }
    assert parents == bases | {"FluidError": None}


@pytest.mark.parametrize("kind", AGENT_ERRORS)
def test_retryable_is_what_the_page_says(kind):
    """Only rate limits, timeouts and server errors are worth the same call again."""
    assert kind("x").retryable is (kind in RETRYABLE)


def test_a_used_up_quota_is_not_retryable():
    """A used-up quota is a rate limit that won't pass."""
    assert not errors.RateLimitError("x", quota_exhausted=True).retryable


@pytest.mark.parametrize("kind", PROVIDER_ERRORS)
def test_provider_errors_carry_provider_status_and_wait(kind):
    """The three documented attributes are on each provider error, the wait in float seconds."""
    error = kind("slow down", provider="openai", status_code=429, retry_after=2.5)
    assert (error.provider, error.status_code, error.retry_after) == ("openai", 429, 2.5)
    assert kind().retry_after is None
    assert str(error) == error.message == "slow down"


def test_schema_and_tool_errors_carry_their_documented_attributes():
    """What the corrective layer needs is on the error, and the raw output is not in its text."""
    schema = errors.SchemaValidationError(
        "bad", schema_name="Model", validation_errors=[{"loc": ("a",)}], raw_output="{canary}"
    )
    assert (schema.schema_name, schema.raw_output) == ("Model", "{canary}")
    assert schema.validation_errors == [{"loc": ("a",)}]
    assert "canary" not in str(schema) + repr(schema)
    tool = errors.ToolValidationError("bad", tool_name="t", tool_args={"a": 1}, reason="why")
    assert (tool.tool_name, tool.tool_args, tool.reason) == ("t", {"a": 1}, "why")


@pytest.mark.parametrize("kind", AGENT_ERRORS)
def test_errors_survive_pickling(kind):
    """An error that crosses a process keeps its class and its attributes."""
    error = kind("x", hint="do y")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert copy.__dict__ == error.__dict__


@pytest.mark.parametrize("kind", AGENT_ERRORS)
def test_a_misspelt_attribute_is_refused(kind):
    """An error is not made with details that it will not carry."""
    with pytest.raises(TypeError):
        kind("x", retry_afer=1)
