"""Made-up rows that show how a pattern loads: what stays, changes, goes and comes back.

Each function returns the rows of one load after the other, by the relation that the model reads; or
None where the model can't show its pattern, because of a key's type or because nothing in it can
change.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

from fluid_build.transform.plan.elements import Build, TransformPlan

Row: TypeAlias = dict[str, object]
Given: TypeAlias = Mapping[str, Sequence[Row]]
"""Rows by the name of their relation; a column that a row lacks is null."""

_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"}
_DAYS = {"DATE", "TIMESTAMP"}
MEMBERS = {"unchanged": 1, "changed": 2, "deleted": 3, "returned": 4, "new": 5}
"""The rows of histories by what becomes of them: a text is the word itself, a number its own."""


class Relations:
    """The columns of a plan's relations, and what the columns of all loads are called."""

    def __init__(self, plan: TransformPlan) -> None:
        self._types = {
            build.name: {column.name: column.type for column in build.columns}
            for build in plan.builds
        }
        self.names = plan.column_names

    def types(self, name: str) -> Mapping[str, str]:
        """Return the types of a relation's columns by their names."""
        return self._types[name]


def history_loads(build: Build, relations: Relations) -> Sequence[Given] | None:
    """Return three loads: a row that returns is gone in the second one."""
    arguments = _arguments(build)
    staging = str(arguments["staging"])
    types = relations.types(staging)
    keys = _texts(arguments.get("keys")) or [str(arguments["key"])]
    keys += _texts(arguments.get("multi_active"))
    columns = _texts(arguments.get("columns"))
    changing = _changing([name for name in columns if name not in keys], types)
    if not _can_tell_apart(keys, types) or (columns and not changing):
        return None

    def rows(*members: str, changed: bool = False) -> Given:
        each = (member for member in members if changing or member != "changed")
        return {
            staging: [
                _member(keys, types, member) | _state(changing, types, member, changed=changed)
                for member in each
            ]
        }

    return (
        rows("unchanged", "changed", "deleted", "returned"),
        rows("unchanged", "changed", "deleted"),
        rows("unchanged", "changed", "returned", changed=True),
    )


def hub_loads(build: Build, relations: Relations) -> Sequence[Given] | None:
    """Return two loads: every feed has all keys, in the second one a new one too."""
    arguments = _arguments(build)
    key, business_key = str(arguments["key"]), _texts(arguments["business_key"])
    feeds = arguments["feeds"]
    assert isinstance(feeds, list)
    own = relations.types(build.name)

    def rows(*members: str) -> dict[str, list[Row]]:
        given: dict[str, list[Row]] = {}
        for feed in feeds:
            staging = str(feed["staging"])
            columns = _texts(feed.get("columns")) or business_key
            types = relations.types(staging)
            # A key of another type is cast, which a word can't be.
            if any(types.get(c) != own[n] for c, n in zip(columns, business_key, strict=True)):
                continue
            there = given.setdefault(staging, [{} for _ in members])
            for row, member in zip(there, members, strict=True):
                row |= _member((str(feed.get("key", key)), *columns), types, member)
                row[relations.names.record_source] = staging
        return given

    if not _can_tell_apart((key, *business_key), own) or not rows("unchanged"):
        return None
    return rows("unchanged"), rows("unchanged", "new")


def link_loads(build: Build, relations: Relations) -> Sequence[Given] | None:
    """Return two loads: the second one has a new link, and a row without one.

    None for a link with what rows were under an earlier key, which depends on other loads.
    """
    arguments = _arguments(build)
    if "earlier" in arguments:
        return None
    staging = str(arguments["staging"])
    types = relations.types(staging)
    columns = [str(arguments["key"]), *_texts(arguments["columns"])]
    if not _can_tell_apart(columns, types):
        return None
    known, new = (_member(columns, types, member) for member in ("unchanged", "new"))
    unlinked = {name: value for name, value in new.items() if name != columns[0]}
    return {staging: [known, known]}, {staging: [known, new, unlinked]}


def junk_loads(build: Build, relations: Relations) -> Sequence[Given] | None:
    """Return a load in which a combination is there twice."""
    arguments = _arguments(build)
    staging = str(arguments["staging"])
    types = relations.types(staging)
    columns = [name for name in _staged(arguments["columns"]) if types[name] in _SAMPLES]
    if not columns:
        return None
    first, second = (_member(columns, types, member) for member in ("unchanged", "new"))
    return ({staging: [first, first, second]},)


def dimension_loads(build: Build, relations: Relations) -> Sequence[Given] | None:
    """Return two loads: in the second one a member is changed, and one is gone."""
    arguments = _arguments(build)
    staging = str(arguments["staging"])
    types = relations.types(staging)
    keys = _staged(arguments["natural_key"])
    links = {column for each in _mapping(arguments.get("links")).values() for column in each}
    others = [c for c in _staged(arguments["columns"]) if c not in {*keys, *links}]
    changing = _changing(others, types)
    if not changing or not _can_tell_apart(keys, types):
        return None

    def rows(*members: str, changed: bool) -> Given:
        return {
            staging: [
                _member(keys, types, member) | _state(changing, types, member, changed=changed)
                for member in members
            ]
        }

    return (
        rows("unchanged", "changed", "deleted", changed=False),
        rows("unchanged", "changed", changed=True),
    )


def versioned_loads(build: Build, relations: Relations) -> Sequence[Given] | None:
    """Return two loads: the second one adds a version to a member, and ends that of another."""
    arguments = _arguments(build)
    staging, history = str(arguments["staging"]), str(arguments["history"])
    types = relations.types(history)
    keys = _staged(arguments["natural_key"])
    changing = _changing(
        [name for name in _staged(arguments["columns"]) if name not in keys and name in types],
        types,
    )
    if not changing or not _can_tell_apart(keys, types):
        return None
    names = relations.names

    def version(member: str, day: int, *, changed: bool = False, deleted: bool = False) -> Row:
        state = _state(changing, types, member, changed=changed)
        loaded = {names.load_date: f"2000-01-0{day} 00:00:00", names.is_deleted: deleted}
        return _member(keys, types, member) | state | loaded

    first = [version(member, 1) for member in ("unchanged", "changed", "deleted")]
    added = [version("changed", 2, changed=True), version("deleted", 2, deleted=True)]
    members = [_member(keys, types, member) for member in ("unchanged", "changed", "deleted")]
    return (
        {staging: members, history: first},
        {staging: members[:2], history: [*first, *added]},
    )


def fact_loads(build: Build, relations: Relations) -> Sequence[Given] | None:
    """Return a load of three rows: the first finds the first version of all that it refers to, the
    second the second one, and the third refers to nothing.
    """
    arguments = _arguments(build)
    joins, keys = _mapping(arguments.get("joins")), _mapping(arguments.get("keys"))
    aliases = {"own": str(arguments["staging"])}
    aliases |= {name: str(join["staging"]) for name, join in joins.items()}
    references = set(_references(arguments))
    types = {
        f"{alias}.{name}": type_
        for alias, staging in aliases.items()
        for name, type_ in relations.types(staging).items()
    }
    # Values that a key is made of may be null.
    parts = {_qualified(column) for found in keys.values() for column in found.get("of") or ()}
    references -= {column for column in parts if types.get(column) not in _SAMPLES}
    moments = [_qualified(str(found["day"])) for found in keys.values() if found.get("day")]
    moments += [_qualified(str(arguments["as_of"]))] if arguments.get("as_of") else []
    dated = all(types.get(column) in _DAYS for column in moments)
    is_once = len({*aliases.values()}) == len(aliases)
    if not references or not is_once or not _can_tell_apart(list(references), types):
        return None
    dimensions = _dimension_rows(arguments, relations)
    if not dated or dimensions is None:
        return None
    own_types = relations.types(aliases["own"])
    # Without a measure, a row that refers to nothing would have no value at all.
    measures = [
        name
        for name in _staged(arguments.get("measures") or ())
        if own_types[name].partition("(")[0] in _MEASURED and f"own.{name}" not in references
    ]
    given: dict[str, list[Row]] = {}
    for alias, staging in aliases.items():
        referring = [c.partition(".")[2] for c in sorted(references) if c.startswith(f"{alias}.")]
        there = relations.types(staging)
        given[staging] = [{name: _sample(there[name], n) for name in referring} for n in (1, 2)]
    rows = [*given[aliases["own"]], *([{}] if measures else [])]
    for number, row in enumerate(rows, 1):
        row |= {name: _sample(own_types[name], number) for name in measures}
    return ({**given, aliases["own"]: rows, **dimensions},)


def _references(arguments: Mapping[str, object]) -> Iterator[str]:
    """Yield the columns by which a fact finds what it refers to, each with its relation."""
    for name, join in _mapping(arguments.get("joins")).items():
        for theirs, ours in join["on"].items():
            yield from (f"{name}.{theirs}", _qualified(ours))
    for found in _mapping(arguments.get("keys")).values():
        columns = chain(
            (found.get("by") or {}).values(),
            found.get("of") or (),
            filter(None, (found.get("day"), found.get("if_there"))),
        )
        yield from map(_qualified, columns)
    if arguments.get("as_of"):
        yield _qualified(str(arguments["as_of"]))


def _dimension_rows(
    arguments: Mapping[str, object], relations: Relations
) -> dict[str, list[Row]] | None:
    """Return the members that two rows of a fact refer to, each in two versions where it has them.

    None where a column has a type of which no value is made up.
    """
    given: dict[str, list[Row]] = {}
    for key, found in _mapping(arguments.get("keys")).items():
        if found.get("day"):
            calendar_key = str(arguments.get("calendar_key", "date_key"))
            given[str(arguments["calendar"])] = [
                {calendar_key: 20000100 + n, "full_date": f"2000-01-0{n}"} for n in (1, 2)
            ]
        if not found.get("by"):
            continue
        name = str(found["in"])
        types = relations.types(name)
        if not _can_tell_apart(list(found["by"]), types):
            return None
        versions = found.get("versions")
        pairs = [(n, v) for n in (1, 2) for v in ((1, 2) if versions else (1,))]
        rows = given.setdefault(name, [{} for _ in pairs])
        for row, (n, v) in zip(rows, pairs, strict=True):
            key_name = str(found.get("key") or key)
            if types[key_name] == "VARCHAR":
                row[key_name] = f"member {n}, version {v}" if versions else f"member {n}"
            else:
                row[key_name] = _sample(types[key_name], 10 * n + v)
            row |= {theirs: _sample(types[theirs], n) for theirs in found["by"]}
            if relations.names.is_deleted in types:
                row[relations.names.is_deleted] = False
            if versions:
                row[str(versions)] = f"member {n}"
                row["valid_from"] = f"{'0001' if v == 1 else '2000'}-01-0{v} 00:00:00"
    return given


_MEASURED = _WHOLE | {"DECIMAL"}
_SAMPLES = _WHOLE | _DAYS | {"VARCHAR", "UUID"}
"""The types of which values are made up: their text is the same in every database."""


def _sample(type_: str, number: int) -> object:
    """Return the value of a type with a number; that of a day is a day of the first loads."""
    if type_ in _WHOLE:
        return number
    day = f"2000-01-{number:02}"
    if type_ == "UUID":
        return f"00000000-0000-0000-0000-{number:012}"
    return {"DATE": day, "TIMESTAMP": f"{day} 00:00:00"}.get(type_, str(number))


def _member(columns: Sequence[str], types: Mapping[str, str], member: str) -> Row:
    return {
        name: member if types[name] == "VARCHAR" else _sample(types[name], MEMBERS[member])
        for name in columns
        if types[name] in _SAMPLES
    }


def _state(column: str, types: Mapping[str, str], member: str, *, changed: bool) -> Row:
    """Return what a member has in the column that changes."""
    if not column:
        return {}
    is_after = changed and member == "changed"
    if types[column] == "VARCHAR":
        return {column: "after" if is_after else "before"}
    return {column: _sample(types[column], 2 if is_after else 1)}


def _changing(columns: Sequence[str], types: Mapping[str, str]) -> str:
    """Return the column that best shows a change: a text, or else the first one; "" for none."""
    able = [name for name in columns if types[name] in _SAMPLES]
    return next((name for name in able if types[name] == "VARCHAR"), next(iter(able), ""))


def _can_tell_apart(columns: Sequence[str], types: Mapping[str, str]) -> bool:
    return all(types.get(name) in _SAMPLES for name in columns)


def _arguments(build: Build) -> Mapping[str, object]:
    assert build.call is not None, "only models that call a macro have patterns"
    return build.call.arguments


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else []


def _mapping(value: object) -> Mapping[str, Mapping[str, Any]]:
    return value if isinstance(value, Mapping) else {}


def _staged(columns: object) -> list[str]:
    """Return columns as staging has them, of which some have another name in the star."""
    assert isinstance(columns, Mapping | list | tuple), "columns are a list, or have types"
    return [str(column).partition(" AS ")[0] for column in columns]


def _qualified(column: object) -> str:
    text = str(column)
    return text if "." in text else f"own.{text}"
