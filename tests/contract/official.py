"""The official FLUID schema, read from next to the repository, and documents made from it.

Nothing here knows the contract's types: documents come from the official schema alone, so that
the types are held against something that is not their own.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from jsonschema import Draft202012Validator

from tests.shared import FLUID_SCHEMA

TEXTS = ("", "a", "customer", "no", "1.0", "2024-01-01", "a\nb\n", " x ", "Ünï", "😀", "true")


@cache
def schema() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(FLUID_SCHEMA.read_text(encoding="utf-8"))
    return loaded


@cache
def validator() -> Draft202012Validator:
    return Draft202012Validator(schema())


def is_valid(document: object) -> bool:
    """The official verdict."""
    return bool(validator().is_valid(document))


def resolved(node: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        node = schema()["$defs"][node["$ref"].removeprefix("#/$defs/")]
    return node


Step = tuple[str, Any]


@dataclass(frozen=True)
class Place:
    """A node of the schema and the steps that lead a document to it."""

    pointer: str
    steps: tuple[Step, ...]


def places() -> Iterator[Place]:
    """Every node of the schema that says something of a value, once each, breadth first."""
    seen: set[int] = set()
    queue: list[tuple[dict[str, Any], Place]] = [(schema(), Place("#", ()))]
    while queue:
        node, place = queue.pop(0)
        if "$ref" in node:
            place = Place(node["$ref"], place.steps)
            node = resolved(node)
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield place
        queue.extend(
            (child, Place(f"{place.pointer}/{name}", (*place.steps, *steps)))
            for name, steps, child in _children(node)
        )


def _children(node: dict[str, Any]) -> Iterator[tuple[str, tuple[Step, ...], dict[str, Any]]]:
    for key, child in node.get("properties", {}).items():
        yield f"properties/{key}", (("key", key),), child
    for word in ("items", "additionalProperties"):
        if isinstance(node.get(word), dict):
            yield word, ((word, None),), node[word]
    for index, child in enumerate(node.get("oneOf", ())):
        yield f"oneOf/{index}", (("branch", index),), child
    for index, rule in enumerate(node.get("allOf", ())):
        for key, child in rule["then"].get("properties", {}).items():
            steps = (("rule", index), ("key", key), ("then", child))
            yield f"allOf/{index}/then/properties/{key}", steps, child


class Maker:
    """Makes valid documents; every choice is the given random source's."""

    def __init__(self, random: Random, *, richness: float = 0.3) -> None:
        self._random = random
        self._richness = richness

    def document(self, place: Place | None = None) -> Any:
        """A valid contract, one that holds the place if one is given."""
        return self.value(schema(), place.steps if place else ())

    def value(self, node: dict[str, Any], steps: tuple[Step, ...] = (), depth: int = 0) -> Any:
        node = resolved(node)
        if steps and steps[0][0] == "then":
            return self.value({"type": "object", **resolved(steps[0][1])}, steps[1:], depth)
        if "oneOf" in node:
            index = steps[0][1] if steps else self._random.randrange(len(node["oneOf"]))
            return self.value(node["oneOf"][index], steps[1:], depth)
        if "anyOf" in node and node.get("type") != "object":
            branch = self._random.choice(node["anyOf"])
            return self.value({"type": "string", **branch}, (), depth)
        if "const" in node:
            return node["const"]
        if "enum" in node:
            return self._random.choice(node["enum"])
        match node.get("type", "object" if "required" in node else None):
            case "object":
                return self._mapping(node, steps, depth)
            case "array":
                return self._list(node, steps, depth)
            case "string":
                return self._text(node)
            case "integer" | "number" as kind:
                return self._number(node, kind)
            case "boolean":
                return self._chance(0.5)
        return self._anything(depth)

    def _chance(self, share: float) -> bool:
        # Hypothesis shrinks a random number to 0, which then means no.
        return self._random.random() > 1 - share

    def _mapping(self, node: dict[str, Any], steps: tuple[Step, ...], depth: int) -> Any:
        known, required = node.get("properties", {}), node.get("required", [])
        preset = self._preset(node, steps)
        spare = None
        if steps and steps[0][0] == "rule":
            steps = steps[1:]
            spare = steps[0][1]
        wanted = steps[0][1] if steps and steps[0][0] == "key" else None
        rich = self._richness / (1 + depth / 2)
        made: dict[str, Any] = {}
        for key, child in known.items():
            if key in preset:
                made[key] = preset[key]
            elif key == wanted:
                made[key] = self.value(child, steps[1:], depth + 1)
            elif key in required or self._chance(rich):
                made[key] = self.value(child, (), depth + 1)
        extra = node.get("additionalProperties", True)
        if isinstance(extra, dict):
            inner = steps[1:] if steps and steps[0][0] == "additionalProperties" else ()
            for index in range(1 if steps else self._random.randrange(3)):
                made[f"{self._random.choice(TEXTS)}{index}"] = self.value(extra, inner, depth + 1)
        elif extra is True and self._chance(rich / 3):
            made[f"x_{self._random.choice(TEXTS)}"] = self._anything(depth)
        self._keep_rules(node, made, depth, spare=spare)
        return made

    def _preset(self, node: dict[str, Any], steps: tuple[Step, ...]) -> dict[str, Any]:
        """What must be said so that the rule on the way holds."""
        if not steps or steps[0][0] != "rule":
            return {}
        condition = node["allOf"][steps[0][1]]["if"]
        if "anyOf" in condition:
            condition = condition["anyOf"][0]
        return {key: child["const"] for key, child in condition["properties"].items()}

    def _keep_rules(
        self, node: dict[str, Any], made: dict[str, Any], depth: int, *, spare: str | None
    ) -> None:
        for rule in node.get("allOf", ()):
            if _holds(rule["if"], made):
                self._apply(rule["then"], node, made, depth, spare)
        if "anyOf" in node:
            self._apply({"anyOf": node["anyOf"]}, node, made, depth, spare)
        if "allOf" in node and not _holds(node, made):
            for key in ("properties", "params"):
                if key != spare:
                    made.pop(key, None)

    def _apply(
        self,
        rule: dict[str, Any],
        node: dict[str, Any],
        made: dict[str, Any],
        depth: int,
        spare: str | None,
    ) -> None:
        if "anyOf" in rule and not any(_holds(branch, made) for branch in rule["anyOf"]):
            self._apply(self._random.choice(rule["anyOf"]), node, made, depth, spare)
        for key in rule.get("required", ()):
            known = rule.get("properties", {}).get(key, node.get("properties", {}).get(key))
            if key not in made:
                made[key] = self.value(known or {"type": "string"}, (), depth + 1)
        for key, child in rule.get("properties", {}).items():
            if key not in made or _holds(child, made[key]):
                continue
            if resolved(child).get("additionalProperties") is False:
                made[key] = self.value(child, (), depth + 1)
            elif isinstance(made[key], dict):
                self._apply(child, child, made[key], depth, spare)

    def _list(self, node: dict[str, Any], steps: tuple[Step, ...], depth: int) -> Any:
        inner = steps[1:] if steps else ()
        least = 1 if steps else node.get("minItems", 0)
        count = max(least, self._random.choice((0, 1, 1, 2, 3)) if depth < 8 else 0)
        items = node.get("items", {})
        made = [self.value(items, inner if i == 0 else (), depth + 1) for i in range(count)]
        if node.get("uniqueItems"):
            made = list(dict.fromkeys(made))
        return made

    def _text(self, node: dict[str, Any]) -> str:
        if "pattern" in node:
            return self._random.choice(samples(node["pattern"]))
        texts = [text for text in TEXTS if len(text) >= node.get("minLength", 0)]
        return self._random.choice(texts)

    def _number(self, node: dict[str, Any], kind: str) -> int | float:
        low = node.get("minimum", -5)
        high = node.get("maximum", low + 10)
        choices: list[int | float] = [low, high, float(low), self._random.randint(low, high)]
        if kind == "number":
            choices.append(low + (high - low) * 0.37)
        return self._random.choice(choices)

    def _anything(self, depth: int) -> Any:
        choices = (None, True, 1, 1.5, "no", "ü", [], {}, [1, "a", None], {"a": {"b": [None]}})
        return self._random.choice(choices) if depth < 12 else 0


def _holds(rule: dict[str, Any], value: object) -> bool:
    return bool(validator().evolve(schema=rule).is_valid(value))


@cache
def samples(pattern: str) -> tuple[str, ...]:
    """Texts that match one of the schema's patterns."""
    found = tuple(text for text in _CANDIDATES if re.search(pattern, text))
    assert found, f"no sample text matches {pattern}"
    return found


_CANDIDATES = (
    "0.7.2",
    "a",
    "_",
    "7",
    "a-b",
    "gold.customer_v1",
    "customer-data",
    "1.0.0",
    "0.10.2-rc.1+build.5",
    "P1D",
    "PT15M",
    "P1Y2M3W4DT5H6M7S",
    "100%",
    "100.00%",
    "99.95%",
    "sha256:" + "0aF9" * 16,
    "int",
    "DECIMAL(10, 2)",
    " Double  Precision ",
    "timestamp with time zone",
    "timestamp without time zone",
    "enum('a', \"b\")",
    "dbt-duckdb",
    "dbt-a_b-c",
    "s3.ensure_bucket",
    "MyFluidExecute",
    "BashOperator",
    "PythonOperator",
)
