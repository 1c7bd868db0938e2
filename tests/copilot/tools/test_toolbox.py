"""Toolboxes: an agent calls the tools that it was given, and no others."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fluid_build.copilot.tools.definition import SchemaTool
from fluid_build.copilot.tools.metrics import ToolObservabilityCollector
from fluid_build.copilot.tools.registry import forge_tool, register_legacy_tool
from fluid_build.copilot.tools.toolbox import Toolbox


def double(number: int) -> int:
    """Double a number."""
    return 2 * number


async def halve(number: int) -> float:
    """Halve a number."""
    return number / 2


def fill_registries() -> None:
    forge_tool(tags=["sql", "read"], read_only=True)(double)
    forge_tool(tags=["sql"], requires_approval=True)(halve)
    register_legacy_tool(
        name="old", description="d", input_schema={"type": "object"}, impl=lambda: "old"
    )


@pytest.mark.parametrize(
    ("tools", "tags", "names"),
    [
        ([], [], []),
        (["double", "old"], [], ["double", "old"]),
        ([], ["sql"], ["double", "halve"]),
        (["old", "double"], ["read"], ["old", "double"]),
        ([halve], ["none"], ["halve"]),
    ],
)
def test_tools_come_by_name_by_tag_and_as_functions(
    tools: list[Any], tags: list[str], names: list[str]
) -> None:
    fill_registries()
    box = Toolbox(tools, tags=tags)
    assert [*box] == names
    assert [definition["name"] for definition in box.definitions] == names
    assert all(box.find(name) is box[name] for name in names)
    assert box.find("none") is None


def test_a_registered_tool_outside_of_the_box_is_unknown() -> None:
    fill_registries()
    box = Toolbox(["double"])
    collector = ToolObservabilityCollector()
    assert box.dispatch("double", '{"number": 2}', collector=collector).value == 4
    assert box.dispatch("halve", {"number": 2}, collector=collector).error_type == "UnknownTool"
    result = asyncio.run(box.dispatch_async("old", {}, collector=collector))
    assert result.error_type == "UnknownTool"
    assert [trace.tool_name for trace in collector.traces.values()] == ["double", "halve", "old"]


def test_a_box_does_not_change_with_the_registry() -> None:
    box = Toolbox([double])
    fill_registries()
    assert [*box] == ["double"]
    assert asyncio.run(Toolbox([halve]).dispatch_async("halve", {"number": 3})).value == 1.5


def test_names_must_be_known_and_unique() -> None:
    fill_registries()
    with pytest.raises(LookupError, match="'none'"):
        Toolbox(["none"])
    with pytest.raises(ValueError, match="named 'double'"):
        Toolbox(["double", double])


def test_deps_can_be_checked_before_any_call() -> None:
    def count(*, deps: list[int]) -> int:
        return len(deps)

    box = Toolbox([double, count])
    box.check_deps([1])
    assert box.dispatch("count", {}, deps=[1]).value == 1
    with pytest.raises(TypeError, match="'count' takes deps of type list, not int"):
        box.check_deps(1)


def test_flags_are_declarations_that_no_provider_sees() -> None:
    fill_registries()
    box = Toolbox(["double", "halve", "old"])
    assert [tool.read_only for tool in box.values()] == [True, False, False]
    assert [tool.requires_approval for tool in box.values()] == [False, True, False]
    for definition in box.definitions:
        assert set(definition) == {"name", "description", "input_schema"}


@pytest.mark.parametrize(
    ("schema", "arguments", "is_accepted"),
    [
        ({"type": "object"}, {"anything": 1}, True),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": 1}, True),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": "x"}, False),
        ({"type": "object", "properties": {}}, {"z": 1}, False),
        ({"type": "object", "properties": {}, "additionalProperties": True}, {"z": 1}, True),
        ({"type": "object"}, "[]", False),
        ({"type": "object"}, '{"a": NaN}', False),
        ({"type": "object"}, '{"workspace_root": "theirs", "deps": 1}', True),
    ],
)
def test_a_tool_with_a_schema_of_its_own_gets_the_checked_object(
    schema: Any, arguments: Any, is_accepted: bool
) -> None:
    received: list[dict[str, object]] = []
    tool = SchemaTool(received.append, name="t", description="d", input_schema=schema)
    result = Toolbox([tool]).dispatch("t", arguments, deps="ours")
    assert (result.ok, len(received)) == (is_accepted, int(is_accepted))
    if not is_accepted:
        assert result.error_type == "ToolValidationError"
