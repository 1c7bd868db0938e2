"""A source cut into chunks along its references, and the part of the document for each."""

from collections import deque
from collections.abc import Mapping, Sequence

from fluid_build.copilot.context.token_estimate import estimate_tokens
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.pipeline.logical.compact_profile import (
    DETAILS,
    DraftFacts,
    as_document,
    describe_tables,
    join_names,
)
from fluid_build.profiling.profile import Profile

MOST_TABLES = 100
"""Tables of a chunk. Each chunk pays for the instructions and a map, some 2,000 tokens."""
_TOKENS_PER_TABLE = 88
"""What a table may cost where there are many: 100 of them with instructions, a map and the longest
answer (4,096 tokens) have 150 tokens each."""
_TOKENS_FOR_FEW = 3_500
"""What the tables of a small chunk may cost together."""
_MAP_TOKENS = 800
_FRAME_TOKENS = 60
"""What is around the tables in a document."""


def cut_into_chunks(facts: DraftFacts, room: int) -> tuple[tuple[str, ...], ...]:
    """Return the tables of each chunk, of which each table is in exactly one.

    ``room`` are the tokens that a chunk's tables may take. Tables that refer to each other stay
    together as far as they fit.
    """
    profile = facts.draft.profile
    described = describe_tables(facts, profile.tables, DETAILS[3])
    costs = {name: _tokens({name: text}) for name, text in described.items()}
    room -= _map_tokens(room) + _FRAME_TOKENS
    chunks: list[list[str]] = [[]]
    free = room
    for area in connected_areas(profile):
        cost = sum(costs[name] for name in area)
        is_whole = cost <= room and len(area) <= MOST_TABLES
        if is_whole and (cost > free or len(area) + len(chunks[-1]) > MOST_TABLES):
            chunks.append([])
            free = room
        for name in area:
            if chunks[-1] and (costs[name] > free or len(chunks[-1]) == MOST_TABLES):
                chunks.append([])
                free = room
            chunks[-1].append(name)
            free -= costs[name]
    return tuple(tuple(chunk) for chunk in chunks if chunk)


def connected_areas(profile: Profile) -> tuple[tuple[str, ...], ...]:
    """Return the tables by connected area, neighbours near each other, in the source's order."""
    neighbours = _neighbours(profile)
    seen: set[str] = set()
    areas = []
    for table in profile.tables:
        if table.name not in seen:
            areas.append(_walk(table.name, neighbours))
            seen.update(areas[-1])
    return tuple(areas)


def _walk(start: str, neighbours: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    seen, waiting = {start: None}, deque([start])
    while waiting:
        for name in neighbours.get(waiting.popleft(), ()):
            if name not in seen:
                seen[name] = None
                waiting.append(name)
    return tuple(seen)


def _neighbours(profile: Profile) -> dict[str, list[str]]:
    tables = {table.name for table in profile.tables}
    neighbours: dict[str, list[str]] = {}
    for key in profile.foreign_keys:
        if key.from_table in tables and key.to_table in tables:
            neighbours.setdefault(key.from_table, []).append(key.to_table)
            neighbours.setdefault(key.to_table, []).append(key.from_table)
    return neighbours


def chunk_document(
    facts: DraftFacts, names: Sequence[str], room: int, extra: JsonObject
) -> JsonObject:
    """Return the document on some tables, as detailed as ``room`` allows, with ``extra`` in it."""
    profile = facts.draft.profile
    chosen = set(names)
    tables = [table for table in profile.tables if table.name in chosen]
    overview = _map(profile, chosen, _map_tokens(room))
    around = {**extra, **({"map": overview} if overview else {})}
    left = room - _tokens(around) - _FRAME_TOKENS
    allowed = min(left, max(_TOKENS_FOR_FEW, _TOKENS_PER_TABLE * len(tables)))
    described: Mapping[str, JsonObject] = {}
    for detail in DETAILS:
        described = describe_tables(facts, tables, detail)
        if _tokens(described) <= allowed:
            break
    return {**around, "tables": described}


def _map_tokens(room: int) -> int:
    """Return what a map may cost, less where the window is small."""
    return min(_MAP_TOKENS, room // 5)


def _map(profile: Profile, chosen: set[str], left: int) -> dict[str, JsonValue]:
    """Return the other tables: neighbours with their keys, then names until it's enough."""
    neighbours = _neighbours(profile)
    near = {name for table in chosen for name in neighbours.get(table, ())} - chosen
    other = [table for table in profile.tables if table.name not in chosen]
    near_first = sorted(other, key=lambda table: table.name not in near)
    keys: dict[str, JsonValue] = {}
    names: list[str] = []
    for table in near_first:
        key = list(table.primary_key or ())
        entry: JsonValue = {table.name: key} if table.name in near else table.name
        left -= _tokens(entry)
        if left < 0:
            break
        if table.name in near:
            keys[table.name] = key
        else:
            names.append(table.name)
    overview: dict[str, JsonValue] = {
        "near": keys,
        "far": join_names(names),
        "more": len(other) - len(keys) - len(names),
    }
    return {name: value for name, value in overview.items() if value}


def _tokens(value: JsonValue) -> int:
    return estimate_tokens(as_document(value))
