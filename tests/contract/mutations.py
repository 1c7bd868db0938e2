"""Small changes to a document, most of which make it invalid, some of which must not."""

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

PROBES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    101,
    1.0,
    2.0,
    0.5,
    -0.0,
    1e300,
    10**30,
    float("nan"),
    float("inf"),
    "",
    " ",
    "a",
    "A",
    "a b",
    "a_b",
    "é",
    "a\n",
    "1.0.0",
    "P1D",
    "P",
    "100%",
    "9%",
    "int",
    "İnt",
    "\u017ftring",
    "0.7.2\n",
    "\u0661.\u0660.\u0660",
    "table",
    "dbt-",
    [],
    [[]],
    ["a"],
    ["a", "a"],
    ["a", "A", 1, True],
    [1, 1.0],
    {},
    {"a": "b"},
    {"a": None},
    {"name": "a", "type": "int"},
    {"": {"": [{}]}},
)

Spot = tuple[Any, Any]


def spots(document: Any) -> list[Spot]:
    """Every container of the document with each of its keys or indexes."""
    return list(_spots(document))


def _spots(value: Any) -> Iterator[Spot]:
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in entries:
        yield value, key
        if isinstance(child, dict | list):
            yield from _spots(child)


def mutated(random: Random, document: Any, *, times: int = 1) -> Any:
    """A copy of the document with so many changes."""
    changed = copy.deepcopy(document)
    for _ in range(times):
        found = spots(changed)
        if not found:
            return random.choice(PROBES)
        container, key = random.choice(found)
        random.choice(_CHANGES)(random, changed, container, key)
    return changed


def _drop(random: Random, document: Any, container: Any, key: Any) -> None:
    del container[key]


def _rename(random: Random, document: Any, container: Any, key: Any) -> None:
    if isinstance(container, dict):
        container[misspelt(random, key)] = container.pop(key)


def _add(random: Random, document: Any, container: Any, key: Any) -> None:
    if isinstance(container, dict):
        container[random.choice(_KEYS)] = copy.deepcopy(random.choice(PROBES))
    else:
        container.insert(key, copy.deepcopy(random.choice(PROBES)))


def _probe(random: Random, document: Any, container: Any, key: Any) -> None:
    container[key] = copy.deepcopy(random.choice(PROBES))


def _nudge(random: Random, document: Any, container: Any, key: Any) -> None:
    """Change a value into one that is nearly the same, often of another type."""
    value = container[key]
    if isinstance(value, str):
        container[key] = misspelt(random, value)
    elif isinstance(value, bool):
        container[key] = random.choice((int(value), str(value).lower(), not value))
    elif isinstance(value, int | float):
        container[key] = random.choice((value + 0.5, -value, float(value), str(value), bool(value)))
    elif isinstance(value, list):
        container[key] = random.choice((value + value, value[:-1], {"0": value}, [*value, None]))
    elif isinstance(value, dict):
        container[key] = random.choice(([value], {**value, "x": 1}, list(value), dict(value)))


def _graft(random: Random, document: Any, container: Any, key: Any) -> None:
    other, place = random.choice(spots(document))
    container[key] = copy.deepcopy(other[place])


def _nest(random: Random, document: Any, container: Any, key: Any) -> None:
    value = container[key]
    for _ in range(random.randint(1, 30)):
        value = random.choice(([value], {"a": value}))
    container[key] = value


def misspelt(random: Random, word: str) -> str:
    at = random.randrange(len(word) + 1)
    return random.choice(
        (
            word.upper(),
            word.lower(),
            word.capitalize(),
            word + "s",
            word + "\n",
            "\n" + word,
            " " + word,
            word + " ",
            word[:-1],
            word[:at] + word[at + 1 :],
            word[:at] + "é" + word[at:],
            word[:at] + word[at : at + 1] + word[at:],
            word.replace("_", "-"),
            word.replace("-", "_"),
            word.replace(".", ""),
            word.replace("i", "İ").replace("s", "\u017f").replace("k", "\u212a"),
        )
    )


_KEYS = (
    "x",
    "",
    "tags",
    "labels",
    "name",
    "type",
    "description",
    "properties",
    "pattern",
    "operator",
    "params",
    "expose_id",
    "exposeId",
    "schema",
    "columns",
    "model_config",
    "model_extra",
    "__class__",
)
_CHANGES = (_drop, _rename, _add, _probe, _probe, _nudge, _nudge, _nudge, _graft, _nest)
