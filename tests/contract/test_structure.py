"""The types and the official schema know the same keys, words, shapes and bounds, everywhere."""

import re
from collections.abc import Iterator
from random import Random
from typing import Any, get_args, get_origin

from annotated_types import MinLen
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from fluid_build.contract import fluid
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.fluid.common import Distinct, TextPattern
from fluid_build.contract.fluid.plain_parts import PlainPart
from fluid_build.contract.structure import Allowed, allowed, keys_of, required_keys
from tests.contract.mutations import misspelt
from tests.contract.official import resolved, samples, schema
from tests.shared import needs_shared

pytestmark = needs_shared

Pair = tuple[str, dict[str, Any], Allowed]


def pairs() -> Iterator[Pair]:
    """Every node of the official schema with our type at the same place."""
    seen: set[tuple[int, object]] = set()
    queue: list[Pair] = [("#", schema(), Allowed(FluidContract))]
    while queue:
        pointer, node, ours = queue.pop()
        node = resolved(node)
        mark = (id(node), ours.part or pointer)
        if mark not in seen:
            seen.add(mark)
            yield pointer, node, ours
            queue.extend(_below(pointer, node, ours))


def _below(pointer: str, node: dict[str, Any], ours: Allowed) -> Iterator[Pair]:
    branches = ours.branches
    if "oneOf" in node:
        for index, (child, branch) in enumerate(zip(node["oneOf"], branches.values(), strict=True)):
            yield f"{pointer}/oneOf/{index}", child, branch
    elif branches:
        # A build: one official node, one type of ours for each pattern.
        rules = {rule["if"]["properties"]["pattern"]["const"]: rule for rule in node["allOf"]}
        for tag, branch in branches.items():
            yield f"{pointer}<{tag}>", _under_rule(node, rules.get(tag)), branch
    elif ours.part is not None:
        known = keys_of(ours.part)
        for key, child in node.get("properties", {}).items():
            yield f"{pointer}/{key}", child, known[key]
    elif get_origin(ours.type) in (list, dict):
        word = "items" if get_origin(ours.type) is list else "additionalProperties"
        if isinstance(node.get(word), dict):
            yield f"{pointer}/{word}", node[word], allowed(get_args(ours.type)[-1])


def _under_rule(node: dict[str, Any], rule: dict[str, Any] | None) -> dict[str, Any]:
    """The build's node where the rule for a pattern holds."""
    if rule is None:
        return node
    pattern = rule["if"]["properties"]["pattern"]
    told = {"pattern": pattern, "properties": rule["then"]["properties"]["properties"]}
    return {**node, "properties": {**node["properties"], **told}, "required": ["pattern"]}


def is_open(part: type[BaseModel] | PlainPart) -> bool:
    if isinstance(part, PlainPart):
        return part.is_open
    return part.model_config.get("extra") != "forbid"


def test_objects_know_the_same_keys_and_need_the_same() -> None:
    """Every object has the same keys, the same required ones, and is as open, in both."""
    parts = 0
    for pointer, node, ours in pairs():
        if ours.part is None:
            continue
        parts += 1
        assert set(keys_of(ours.part)) == set(node.get("properties", {})), pointer
        assert set(required_keys(ours.part)) == set(node.get("required", ())), pointer
        assert is_open(ours.part) == (node.get("additionalProperties") is not False), pointer
    assert parts > 100


def test_words_are_the_same() -> None:
    """Every enumeration has the same words in both."""
    for pointer, node, ours in pairs():
        official = set(node.get("enum", [node["const"]] if "const" in node else []))
        words = set(ours.words or (ours.number.words if ours.number else ()))
        assert words == official, pointer


def test_types_are_the_same() -> None:
    """Every node allows the same kind of value in both."""
    kinds = {str: "string", bool: "boolean", list: "array", dict: "object"}
    for pointer, node, ours in pairs():
        official = node.get("type")
        if official is None or ours.branches:
            continue
        if ours.number is not None:
            kind = "integer" if ours.number.whole else "number"
        elif ours.part is not None:
            kind = "object"
        elif ours.words:
            kind = "string"
        else:
            kind = kinds[get_origin(ours.type) or ours.type]
        assert kind == official, pointer


def test_bounds_are_the_same() -> None:
    """Numbers have the same bounds, and lists the same least length and uniqueness, in both."""
    for pointer, node, ours in pairs():
        low, high = (ours.number.low, ours.number.high) if ours.number else (None, None)
        assert (low, high) == (node.get("minimum"), node.get("maximum")), pointer
        least = [rule.min_length for rule in ours.rules if isinstance(rule, MinLen)]
        assert least == [node["minItems"]] if "minItems" in node else not least, pointer
        assert (Distinct in ours.rules) == node.get("uniqueItems", False), pointer


def shapes() -> list[tuple[str, str, TextPattern]]:
    """Each official pattern, with our shape at the same place."""
    found = {}
    for pointer, node, ours in pairs():
        for rule in (node, *node.get("anyOf", ())):
            if "pattern" in rule and "const" not in rule:
                assert ours.shape is not None, pointer
                found[rule["pattern"], ours.shape] = (pointer, rule["pattern"], ours.shape)
    return list(found.values())


def test_texts_with_a_pattern_have_a_shape_and_no_others() -> None:
    """We refuse texts by their shape only where the official schema does."""
    for pointer, node, ours in pairs():
        official = any(
            "pattern" in rule or "minLength" in rule for rule in (node, *node.get("anyOf", ()))
        )
        assert (ours.shape is not None) == (official and "const" not in node), pointer


@given(st.data(), st.randoms(use_true_random=False))
def test_shapes_match_what_the_official_patterns_match(data: st.DataObject, random: Random) -> None:
    """Ours and the official pattern agree on texts made for either, and on texts close to them."""
    for _, pattern, shape in shapes():
        made = st.from_regex(pattern) | st.from_regex(shape.pattern) | st.text()
        text = data.draw(made | st.sampled_from(samples(pattern)))
        for candidate in (text, misspelt(random, text)):
            ours = re.search(shape.pattern, candidate) is not None
            official = re.search(pattern, candidate) is not None
            engine = "dbt" in pattern and candidate in shape.words
            assert ours == (official or engine), (pattern, candidate)


def test_every_public_type_is_part_of_the_contract() -> None:
    """No type is exported that a contract cannot hold."""
    held = {ours.part for _, _, ours in pairs()}
    exported = [getattr(fluid, name) for name in fluid.__all__]
    models = [item for item in exported if isinstance(item, type) and issubclass(item, BaseModel)]
    assert [model for model in models if model not in held] == []


def test_the_walk_covers_every_definition() -> None:
    """The comparison visits every definition of the official schema."""
    visited = {id(node) for _, node, _ in pairs()}
    definitions = schema()["$defs"].items()
    unvisited = [name for name, node in definitions if id(node) not in visited]
    assert unvisited == []
