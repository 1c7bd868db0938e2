"""Bridges of hierarchies: each member with all that are above it, as the dimension has them now.

They read the dimension alone, which knows already who refers to whom.
"""

from collections.abc import Iterator

from fluid_build.modeling.dimensional.elements import Bridge, Dimension, HierarchyPairs
from fluid_build.modeling.element import SourceColumn
from fluid_build.transform.plan.built_columns import technical
from fluid_build.transform.plan.construction_tests import unique
from fluid_build.transform.plan.dimensional.columns import reference_column
from fluid_build.transform.plan.dimensional.mart_calls import mart_call
from fluid_build.transform.plan.dimensional.mart_tests import reference_tests
from fluid_build.transform.plan.dimensional.shared_rows import shared_rows
from fluid_build.transform.plan.dimensional.star import Star, natural_key, own_attributes
from fluid_build.transform.plan.elements import Build, Check, PlanColumn, Relation
from fluid_build.transform.plan.sql_layout import join, nested, query


def hierarchy_build(star: Star, bridge: Bridge) -> Build:
    """Return the build of a bridge of a hierarchy."""
    dimension = star.dimensions[bridge.left]
    pairs = _pairs_of(bridge)
    ancestor, descendant = (reference.key for reference in bridge.references)
    call, made = mart_call(
        "hierarchy_bridge",
        bridge.name,
        dimension=Relation(dimension.name),
        key=dimension.member_key,
        parent=pairs.parent_key,
        natural_key=list(dimension.natural_key_columns),
        ancestor=ancestor,
        descendant=descendant,
        named_by=pairs.named_by,
        is_versioned=bool(dimension.history),
    )
    return Build(
        name=bridge.name,
        layer="mart",
        materialization="table",
        title=bridge.name,
        description=bridge.grain,
        sql=made.sql,
        call=call,
        ref_models=(dimension.name,),
        columns=tuple(_columns(star, bridge, dimension)),
        key=bridge.grain_columns,
        tests=(
            unique(bridge.name, bridge.grain_columns, bridge.grain, label="grain"),
            *(
                test
                for reference in bridge.references
                for test in reference_tests(
                    bridge.name,
                    reference.key,
                    dimension.name,
                    dimension.member_key,
                    reference.role,
                )
            ),
        ),
        mapped_source_tables=bridge.mapped_source_tables,
        source_columns=bridge.source_columns,
        reason=bridge.reason,
    )


def _pairs_of(bridge: Bridge) -> HierarchyPairs:
    assert bridge.hierarchy_pairs is not None, "only bridges of hierarchies are built here"
    return bridge.hierarchy_pairs


def _columns(star: Star, bridge: Bridge, dimension: Dimension) -> Iterator[PlanColumn]:
    of_dimension = bridge.model_copy(update={"entity_name": dimension.entity_name})
    yield from (reference_column(star, of_dimension, each) for each in bridge.references)
    yield technical(
        "depth", "INTEGER", "How many steps the ancestor is above the descendant: 0 is itself."
    )
    yield technical("is_root", "BOOLEAN", "Whether the ancestor has none above it.")
    yield technical("is_leaf", "BOOLEAN", "Whether the descendant has none below it.")
    yield technical(
        "is_cyclic",
        "BOOLEAN",
        "Whether the ancestor's parent was passed already: the members form a circle, cut here.",
    )
    yield technical(
        "hierarchy_level", "INTEGER", "The level of the descendant; 1 has none above it."
    )
    yield _path_column(star, bridge, dimension)


def _path_column(star: Star, bridge: Bridge, dimension: Dimension) -> PlanColumn:
    """Return the column of paths, which are personal data where the keys in them are."""
    entity, own = dimension.entity_name, own_attributes(dimension)
    named_by = _pairs_of(bridge).named_by
    named = [own[named_by]] if named_by else []
    names = [*named, *(part.name for part in natural_key(star, dimension))]
    path = technical(
        "hierarchy_path",
        "VARCHAR",
        "What the descendant and all above it are called, the first one first, with ' > ' between"
        " them; a > in a name is doubled.",
        tags=(),
        sources=tuple(SourceColumn(table=entity, column=name) for name in names),
    )
    return path.model_copy(update={"pii": any(star.attribute(entity, n).pii for n in names)})


def hierarchy_checks(star: Star, bridge: Bridge) -> Iterator[Check]:
    """Check that each member is there with itself, and that the pairs are those of the source."""
    dimension = star.dimensions[bridge.left]
    expected = _expected_pairs(star, bridge, dimension)
    ancestor, descendant = (reference.key for reference in bridge.references)
    itself = query(
        ["COUNT(*)"], f"model.{bridge.name}", where=["depth = 0", f"{ancestor} = {descendant}"]
    )
    yield Check(
        name=f"members of {bridge.name}",
        kind="rows",
        table=dimension.entity_name,
        expected=f"SELECT COUNT(*)\nFROM {nested(_steps(star, bridge, dimension))} AS steps",
        actual=itself,
        reason="Each member is there with itself.",
    )
    yield Check(
        name=f"rows of {bridge.name}",
        kind="rows",
        table=dimension.entity_name,
        expected=f"SELECT COUNT(*)\nFROM {nested(expected)} AS pairs",
        actual=f"SELECT COUNT(*)\nFROM model.{bridge.name}",
        reason=bridge.grain,
    )
    actual = _built_pairs(bridge, dimension)
    yield Check(
        name=f"pairs of {bridge.name}",
        kind="lost",
        table=dimension.entity_name,
        expected=f"SELECT COUNT(*)\nFROM {nested(expected)} AS pairs",
        actual=shared_rows(expected, actual, width=5),
        differing=f"{nested(expected)}\nEXCEPT ALL\n{nested(actual)}",
        reason="Each pair is one of the source, with its depth, and says whether it ends there.",
    )


def _expected_pairs(star: Star, bridge: Bridge, dimension: Dimension) -> str:
    """Return the pairs by natural keys, worked out from the source alone."""
    steps = _steps(star, bridge, dimension)
    return f"""\
WITH RECURSIVE steps AS {nested(steps)},
pairs AS (
    SELECT member AS ancestor, member AS descendant, 0 AS depth, [member] AS passed
    FROM steps
    UNION ALL
    SELECT steps.parent, pairs.descendant, pairs.depth + 1, list_append(passed, steps.parent)
    FROM pairs
    JOIN steps ON steps.member = pairs.ancestor
    WHERE steps.parent IS NOT NULL AND NOT list_contains(passed, steps.parent)
)
SELECT
    ancestor,
    descendant,
    depth,
    ancestor IN (SELECT member FROM steps WHERE parent IS NULL) AS is_root,
    descendant NOT IN (SELECT parent FROM steps WHERE parent IS NOT NULL) AS is_leaf
FROM pairs"""


def _steps(star: Star, bridge: Bridge, dimension: Dimension) -> str:
    """Return the members by natural keys, each with that of its parent where there is one."""
    entity = dimension.entity_name
    relationship = star.relationships[_pairs_of(bridge).relationship]
    columns = [star.column(entity, part.name) for part in natural_key(star, dimension)]
    member, parent = _key("own", columns), _key("above", columns)
    same = [
        star.equal(
            f"own.{star.column(entity, ours)}",
            star.type(entity, ours),
            f"above.{star.column(entity, theirs)}",
            star.type(entity, theirs),
        )
        for ours, theirs in zip(
            relationship.from_attributes, relationship.to_attributes, strict=True
        )
    ]
    rows = nested(star.selects[entity])
    return query(
        [(member, "member"), (parent, "parent")],
        f"{rows} AS own",
        join("LEFT JOIN", rows, "above", [*same, f"{parent} <> {member}"]),
        distinct=True,
    )


def _built_pairs(bridge: Bridge, dimension: Dimension) -> str:
    """Return the pairs of the bridge, with natural keys for those of members."""
    columns = dimension.natural_key_columns
    key = dimension.member_key
    members = nested(
        query(dict.fromkeys((key, *columns)), f"model.{dimension.name}", distinct=True)
    )
    ancestor, descendant = (reference.key for reference in bridge.references)
    return query(
        [
            (_key("above", columns), "ancestor"),
            (_key("below", columns), "descendant"),
            "built.depth",
            "built.is_root",
            "built.is_leaf",
        ],
        f"model.{bridge.name} AS built",
        join("JOIN", members, "above", [f"above.{key} = built.{ancestor}"]),
        join("JOIN", members, "below", [f"below.{key} = built.{descendant}"]),
    )


def _key(rows: str, columns: list[str] | tuple[str, ...]) -> str:
    """Return a key as one value; of a row that isn't there, it's null."""
    values = [f"{rows}.{column}" for column in columns]
    if len(values) == 1:
        return values[0]
    return f"CASE WHEN {values[0]} IS NOT NULL THEN ROW({', '.join(values)}) END"
