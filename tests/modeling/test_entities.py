"""The conceptual layer says what the data bears out, and why."""

import pytest

from fluid_build.modeling.conceptual import Entity, Relationship
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling.profile import ForeignKey, Profile, TableProfile
from tests.modeling.profiles import column, profile, reference, table

PARENT = table("parent", column("id"), primary_key=("id",), candidate_keys=[("id",)])


def entity(described: TableProfile) -> Entity:
    return build_model(profile(described)).conceptual.entities[0]


def relationship(child: TableProfile, key: ForeignKey, **more: object) -> Relationship:
    measured: Profile = profile(child, PARENT, foreign_keys=[key], **more)
    return build_model(measured).conceptual.relationships[0]


def test_every_element_says_where_it_came_from_and_why() -> None:
    """Entities, attributes, keys and relationships name their tables, columns and reason."""
    child = table("child", column("id"), column("parent_id"), primary_key=("id",))
    key = reference("child", "parent_id", "parent", "id")
    model = build_model(profile(child, PARENT, foreign_keys=[key])).conceptual
    first = model.entity("child")
    assert first.mapped_source_tables == ("child",)
    assert first.reason
    for part in (*first.attributes, *first.keys):
        assert part.reason
        assert part.mapped_source_tables == ("child",)
        assert {source.table for source in part.source_columns} == {"child"}
    related = model.relationships[0]
    assert related.reason
    assert related.mapped_source_tables == ("child", "parent")
    assert [(source.table, source.column) for source in related.source_columns] == [
        ("child", "parent_id"),
        ("parent", "id"),
    ]


def test_a_reference_that_is_declared_twice_is_one_relationship() -> None:
    """Otherwise the tests of a column would share a name."""
    child = table("child", column("id"), column("parent_id"), primary_key=("id",))
    key = reference("child", "parent_id", "parent", "id")
    model = build_model(profile(child, PARENT, foreign_keys=[key, key])).conceptual
    assert len(model.relationships) == 1


def test_the_chosen_key_comes_first_and_undeclared_composites_stay_in_the_profile() -> None:
    """The primary key, then declared keys, then single columns that are unique as it happens."""
    claim = {"columns": ["b"], "evidence": {"origin": "declared", "rows": 100, "violations": 2}}
    result = entity(
        table(
            "t",
            *(column(name) for name in "abcd"),
            primary_key=("a",),
            candidate_keys=[("a",), ("c",), ("b", "d")],
            declared_keys=[claim],
        )
    )
    assert [(key.kind, key.attributes, key.holds) for key in result.keys] == [
        ("primary", ("a",), True),
        ("declared", ("b",), False),
        ("candidate", ("c",), True),
    ]
    assert "violates" in result.keys[1].reason


def test_a_declared_primary_key_keeps_the_evidence_against_it() -> None:
    """A primary key that is declared and broken is the primary key still, and says so."""
    claim = {"columns": ["a"], "evidence": {"origin": "declared", "rows": 100, "violations": 2}}
    result = entity(table("t", column("a"), primary_key=("a",), declared_keys=[claim]))
    assert result.primary_key is not None
    assert (result.primary_key.origin, result.primary_key.holds) == ("declared", False)
    assert result.primary_key.evidence.violations == 2


@pytest.mark.parametrize(
    ("facts", "cardinality"),
    [
        ({}, "many-to-one"),
        ({"primary_key": ("parent_id",)}, "one-to-one"),
        ({"candidate_keys": [("parent_id",)]}, "one-to-one"),
        ({"candidate_keys": [("id", "parent_id")]}, "many-to-one"),
    ],
    ids=["plain", "key", "unique", "part of a key"],
)
def test_a_child_whose_reference_is_unique_is_one_to_one(
    facts: dict[str, object], cardinality: str
) -> None:
    """Where no parent can repeat, the relationship is one-to-one."""
    child = table("child", column("id"), column("parent_id"), **facts)
    result = relationship(child, reference("child", "parent_id", "parent", "id"))
    assert result.cardinality == cardinality


@pytest.mark.parametrize(
    ("evidence", "participation"),
    [({}, "mandatory"), ({"nulls": 1}, "optional"), ({"orphans": 1}, "optional")],
    ids=["complete", "nulls", "orphans"],
)
def test_nulls_and_orphans_make_the_parent_optional(
    evidence: dict[str, int], participation: str
) -> None:
    """A child must have its parent only where every child has one."""
    child = table("child", column("parent_id"))
    result = relationship(child, reference("child", "parent_id", "parent", "id", **evidence))
    assert result.from_participation == participation


@pytest.mark.parametrize(
    ("coverage", "participation"),
    [(1.0, "mandatory"), (0.99, "optional"), (None, "optional")],
)
def test_coverage_tells_whether_every_parent_has_a_child(
    coverage: float | None, participation: str
) -> None:
    """The parent's side is mandatory where no parent is without a child."""
    child = table("child", column("parent_id"))
    result = relationship(child, reference("child", "parent_id", "parent", "id", coverage=coverage))
    assert result.to_participation == participation


@pytest.mark.parametrize("nullable", [True, False])
def test_without_data_the_declaration_decides(nullable: bool) -> None:
    """From DDL, a reference is mandatory where its columns are NOT NULL."""
    child = table("child", column("parent_id", rows=0, distinct=0, nullable=nullable))
    key = reference("child", "parent_id", "parent", "id", coverage=None, origin="declared")
    result = relationship(child, key, has_data=False)
    assert result.from_participation == ("optional" if nullable else "mandatory")


def test_a_reference_to_a_table_that_was_not_read_is_left_out() -> None:
    """There is no entity at its other end."""
    key = reference("parent", "id", "gone", "id")
    assert build_model(profile(PARENT, foreign_keys=[key])).conceptual.relationships == ()


def test_a_unique_column_may_be_null() -> None:
    """SQL lets a unique key be null: that does not break it, as a repeated value would."""
    evidence = {"origin": "declared", "rows": 90, "nulls": 10}
    claim = {"columns": ["a"], "evidence": evidence}
    result = entity(table("t", column("a", nulls=10), declared_keys=[claim]))
    assert result.keys[0].holds


def test_relationships_have_names_of_their_own() -> None:
    """Two references between the same tables, even by the same columns, can be told apart."""
    child = table("child", column("a"), column("b"))
    keys = [
        reference("child", "a", "parent", "id"),
        reference("child", "b", "parent", "id"),
        reference("child", "a", "parent", "other"),
    ]
    parent = table("parent", column("id"), column("other"))
    model = build_model(profile(child, parent, foreign_keys=keys))
    names = [related.name for related in model.conceptual.relationships]
    assert names == ["child_a_to_parent_id", "child_b_to_parent", "child_a_to_parent_other"]
