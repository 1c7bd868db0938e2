"""What real databases surprised us with: a world draws each of it, or has one alone.

Some change how a database is designed (``bench/worlds/design.py`` asks for them by name), the
others change tables that are filled. Each draws from a seed of its own, so that a world with one
of these and the world without it are the same otherwise.
"""

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from bench.worlds.domains import Entity
from bench.worlds.naming import Style, disguise
from bench.worlds.tables import Column, Link, Table, is_free
from bench.worlds.values import WHOLE_NUMBERS, zero_padded

HAZARDS: Mapping[str, float] = {
    "client in keys": 0.08,
    "client column": 0.06,
    "version in keys": 0.06,
    "validity in keys": 0.04,
    "authority in keys": 0.04,
    "initialisms": 0.06,
    "column prefixes": 0.1,
    "unknown language": 0.08,
    "renamed members": 0.12,
    "bridges": 0.15,
    "descriptions": 0.12,
    "digits": 0.08,
    "sentinels": 0.12,
}
"""How often each is drawn. What is in every key excludes what else is."""
SCOPES: Mapping[str, str] = {
    "client in keys": "tenant",
    "client column": "tenant",
    "version in keys": "version",
    "validity in keys": "valid",
}
"""The entity that all rows belong to, by the hazard."""
IN_EVERY_KEY = frozenset({"authority in keys", *SCOPES}) - {"client column"}
_EVERYWHERE = IN_EVERY_KEY | set(SCOPES)
_ZERO_UUID = "00000000-0000-0000-0000-000000000000"
_MOST_BRIDGES = 3


def draw_hazards(rng: random.Random) -> frozenset[str]:
    """Draw what is surprising about a database; most have one such thing or none."""
    drawn = [hazard for hazard, share in HAZARDS.items() if rng.random() < share]
    everywhere = [hazard for hazard in drawn if hazard in _EVERYWHERE]
    return frozenset(drawn) - frozenset(everywhere[1:])


def restyle(style: Style, hazards: frozenset[str], seed: str) -> Style:
    """Return the naming habits of a database with these hazards."""
    if "unknown language" in hazards:
        rng = random.Random(f"{seed}/unknown language")
        alphabet = disguise(rng)
        style = replace(
            style,
            alphabet=alphabet,
            key_word=rng.choice(("id", "id", style.key_word.translate(alphabet))),
            code_word=style.code_word.translate(alphabet),
            number_word=style.number_word.translate(alphabet),
        )
    if "initialisms" in hazards:
        style = replace(style, has_initialisms=True, has_bare_keys=False)
    if "column prefixes" in hazards:
        rng = random.Random(f"{seed}/column prefixes")
        style = replace(style, column_prefix=rng.choice(("table", "parent")), has_bare_keys=False)
    if "authority in keys" in hazards:
        style = replace(style, has_bare_keys=True)
    return style


def change_tables(
    tables: list[Table], style: Style, hazards: Iterable[str], seed: str
) -> list[Table]:
    """Return filled tables with the hazards that come after the design."""
    for hazard, change in _CHANGES.items():
        if hazard in hazards:
            tables = [*tables, *change(random.Random(f"{seed}/{hazard}"), tables, style)]
    return tables


def _add_bridges(rng: random.Random, tables: list[Table], style: Style) -> list[Table]:
    """Return tables that have each key of a parent once, as its children call it."""
    referred = [link.parent for table in tables for link in table.links if link.parent is not table]
    parents = [
        table for table in tables
        if len(table.key) == 1 and table.entity.kind in {"lookup", "master"}
        and referred.count(table) > 1
    ]  # fmt: skip
    names = {table.name.lower() for table in tables}
    bridges: list[Table] = []
    for parent in rng.sample(parents, min(len(parents), _MOST_BRIDGES)):
        name = style.table(f"{parent.entity.name}-group", "link")
        if name.lower() not in names:
            names.add(name.lower())
            bridges.append(_bridge(rng, parent, name, style))
    return bridges


def _bridge(rng: random.Random, parent: Table, name: str, style: Style) -> Table:
    entity, initials = parent.entity.name, "gr"
    rows = rng.sample(range(parent.rows), parent.rows)
    is_code = parent.has_code_key()
    words = style.reference(entity, "", is_qualifier=False, is_code=is_code)
    member = Column(style.column(words, initials), words, "reference", parent.key[0].type)
    member.values = [parent.key[0].values[row] for row in rows]
    group = Column(style.column(style.words("group"), initials), [], "attribute", "INTEGER")
    group.values = [rng.randint(1, 1 + parent.rows // 6) for _ in rows]
    table = Table(Entity(f"{entity}-group", "bridge", (), (), (), ()), name, initials)
    table.columns, table.key, table.rows = [member, group], [member], parent.rows
    if rng.random() < 0.5 and style.key_word.lower() != member.name.lower():
        own = Column(style.render([style.key_word]), [], "surrogate", "INTEGER")
        own.values = list(range(1, parent.rows + 1))
        table.columns, table.key, table.unique = [own, member, group], [own], [[member]]
    link = Link([member], parent, list(parent.key), nature="bridge", parent_rows=list(rows))
    table.links = [link]
    return table


def _describe_codes(rng: random.Random, tables: list[Table], style: Style) -> list[Table]:
    """Begin the lists of codes with descriptions that are different in each row."""
    for table in tables:
        if table.entity.kind != "lookup" or len(table.key) != 1:
            continue
        words = style.words(rng.choice(("description", "name")))
        name = style.column(words, table.initials)
        remaining = [column for column in table.columns if column.name.lower() != name.lower()]
        if table.key[0] not in remaining or any(
            column in link.columns for link in table.links for column in table.columns
            if column not in remaining
        ):  # fmt: skip
            continue
        places = " ".join(style.words("group-type-level-zone-unit")).split()
        first = rng.randint(1, 40)
        values: list[object] = [
            f"{rng.choice(places)} {rng.choice(places)} {first + row}".capitalize()
            for row in range(table.rows)
        ]
        table.columns = [Column(name, words, "attribute name", values=values), *remaining]
    return []


def _write_digits(rng: random.Random, tables: list[Table], _: Style) -> list[Table]:
    """Write numbers that identify rows as text, here and there with zeros before them.

    Without such zeros, some children keep numbers.
    """
    for table in tables:
        if len(table.key) != 1 or table.key[0].content != "surrogate" or rng.random() < 0.4:
            continue
        if table.key[0].type not in WHOLE_NUMBERS:
            continue
        digits = max(len(str(value)) for value in table.key[0].values) if table.rows else 1
        width = rng.choice((0, digits + 2, 10))
        for column in _sharing(table.key[0], tables):
            keys = {id(key) for each in tables for key in each.key}
            is_kept = not width and id(column) not in keys and rng.random() < 0.3
            if column.type in WHOLE_NUMBERS and not is_kept:
                column.type, column.values = "VARCHAR", zero_padded(column.values, width)
    return []


def _sharing(key: Column, tables: list[Table]) -> list[Column]:
    """Return a key, and what refers to it directly or through another."""
    found, new = [key], [key]
    while new:
        above, new = new, []
        for link in (link for table in tables for link in table.links):
            for column, parent in zip(link.columns, link.parent_columns, strict=True):
                if any(parent is each for each in above) and column not in found:
                    found.append(column)
                    new.append(column)
    return found


def _say_none(rng: random.Random, tables: list[Table], _: Style) -> list[Table]:
    """Write a value for none where a row refers to nothing, and no parent has it as its key."""
    number, text = rng.choice((0, 0, -1, 9999)), rng.choice(("N/A", "", "none", "-", "0"))
    for table in tables:
        for link in table.links:
            column, keys = link.columns[0], link.parent_columns[0].values
            is_uuid = column.type == "VARCHAR" and keys and len(str(keys[0])) == len(_ZERO_UUID)
            none: object = number if column.type in WHOLE_NUMBERS else text
            none = _ZERO_UUID if is_uuid else none
            is_alone = len(link.columns) == 1 and is_free(table, column)
            if not is_alone or column.type not in {*WHOLE_NUMBERS, "VARCHAR"}:
                continue
            if None in column.values and str(none) not in set(map(str, keys)):
                column.values = [none if value is None else value for value in column.values]
                link.none = none
    return []


_CHANGES: Mapping[str, Callable[[random.Random, list[Table], Style], list[Table]]] = {
    "descriptions": _describe_codes,
    "digits": _write_digits,
    "bridges": _add_bridges,
    "sentinels": _say_none,
}
"""In this order: what identifies rows is a text before it is copied to a bridge."""
