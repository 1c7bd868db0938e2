"""The keys that a schema may declare: those that hold, of tables in an order that allows them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.transform.plan.elements import EVERY_ROW, Build, BuildTest

Columns = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns of a table that refer to a key of another, or of itself."""

    table: str
    columns: Columns
    to_table: str
    to_columns: Columns


def primary_key(build: Build) -> Columns:
    """Return the key that identifies a row, if no row breaks it."""
    holds = any(
        set(test.columns) == set(build.key) and _holds(test)
        for test in build.tests
        if test.kind == "unique"
    )
    return build.key if holds else ()


def unique_keys(build: Build) -> tuple[Columns, ...]:
    """Return the other keys that the source declares; a key that was only measured may end."""
    keys = [
        test.columns
        for test in build.tests
        if test.kind == "unique" and test.key_kind == "declared" and _holds(test)
    ]
    return tuple(key for key in dict.fromkeys(keys) if set(key) != set(build.key))


def foreign_keys(
    builds: Sequence[Build], *, references_unique: bool
) -> Mapping[str, tuple[ForeignKey, ...]]:
    """Return by table the references that hold and lead to a declared key of the same types."""
    by_name = {build.name: build for build in builds}
    return {
        build.name: tuple(dict.fromkeys(_references(build, by_name, references_unique)))
        for build in builds
    }


def in_dependency_order(
    builds: Sequence[Build], keys: Mapping[str, tuple[ForeignKey, ...]]
) -> list[Build]:
    """Return tables after those that they refer to, else in the order of the plan.

    Where tables refer to each other in a circle, the one that the plan has first comes first.
    """
    ordered: list[Build] = []
    waiting = list(builds)
    while waiting:
        names = {build.name for build in waiting}
        free = [
            build
            for build in waiting
            if all(key.to_table not in names - {build.name} for key in keys[build.name])
        ] or waiting[:1]
        ordered += free
        free_names = {build.name for build in free}
        waiting = [build for build in waiting if build.name not in free_names]
    return ordered


def is_not_null(build: Build, column: str) -> bool:
    """Return whether a column is never null, and no row breaks that."""
    return build.column(column).required and not any(
        test.kind == "not_null" and test.columns == (column,) and test.allowed
        for test in build.tests
    )


def _holds(test: BuildTest) -> bool:
    return test.allowed == 0 and test.scope == EVERY_ROW


def _references(
    build: Build, by_name: Mapping[str, Build], references_unique: bool
) -> Iterator[ForeignKey]:
    for test in build.tests:
        target = by_name.get(test.to_model or "")
        if target is None or not test.is_join or not _holds(test):
            continue
        keys = [primary_key(target), *(unique_keys(target) if references_unique else ())]
        # A key is referred to in its own order, which the pairs of a test may not have.
        pairs = dict(zip(test.to_columns, test.columns, strict=True))
        key = next((key for key in keys if key and set(key) == set(pairs)), None)
        if key is None or len(pairs) != len(test.columns):
            continue
        columns = tuple(pairs[name] for name in key)
        if _types(build, columns) == _types(target, key):
            yield ForeignKey(build.name, columns, target.name, key)


def _types(build: Build, columns: Columns) -> list[str]:
    return [build.column(name).type for name in columns]
