"""Which references a star follows, and what identifies a row."""

import math

import pytest

from fluid_build.modeling.dimensional.judging.reference_graph import (
    ReferenceGraph,
    is_filled,
    is_mandatory,
    reference_graph,
)
from fluid_build.profiling.profile import ForeignKey, KeyClaim, Profile
from tests.modeling.profiles import reference
from tests.modeling.sources import changed, changed_column, conceptual, source

SCHEMA = "thing *id, code text, name text\nsale *id, thing_id, amount 5-900"


def graph(measured: Profile) -> ReferenceGraph:
    return reference_graph(measured, conceptual(measured))


def related(*references: ForeignKey) -> ReferenceGraph:
    return graph(source(SCHEMA, *references))


def test_a_reference_is_a_parent_of_the_child_and_a_child_of_the_parent() -> None:
    result = related(reference("sale", "thing_id", "thing", "id"))
    assert [r.to_entity for r in result.parents["sale"]] == ["thing"]
    assert result.children["thing"] == result.parents["sale"]
    assert result.relationship("sale_thing_id_to_thing") == result.parents["sale"][0]


def test_a_reference_to_itself_is_a_loop() -> None:
    result = related(reference("thing", "code", "thing", "id"))
    assert (len(result.loops["thing"]), result.parents["thing"]) == (1, ())


def test_a_reference_that_others_imply_comes_last_and_is_not_direct() -> None:
    result = related(
        reference("sale", "amount", "thing", "id", implied=True),
        reference("sale", "thing_id", "thing", "id"),
    )
    assert [r.implied for r in result.parents["sale"]] == [False, True]
    assert [r.from_attributes for r in result.direct_parents("sale")] == [("thing_id",)]


def test_a_reference_to_what_isnt_unique_is_left_out() -> None:
    assert related(reference("sale", "thing_id", "thing", "code")).parents["sale"] == ()


def test_a_reference_to_a_unique_column_counts() -> None:
    measured = source(SCHEMA, reference("sale", "thing_id", "thing", "code"))
    unique = changed(measured, "thing", candidate_keys=(("id",), ("code",)))
    assert len(graph(unique).parents["sale"]) == 1


@pytest.mark.parametrize("nulls", [0, 1])
def test_a_unique_column_with_a_null_identifies_no_row(nulls: int) -> None:
    measured = source(SCHEMA, reference("sale", "thing_id", "thing", "code"))
    evidence = measured.table("thing").declared_keys[0].evidence
    claim = KeyClaim(columns=("code",), evidence=evidence.model_copy(update={"nulls": nulls}))
    unique = changed(measured, "thing", primary_key=None, declared_keys=(claim,), candidate_keys=())
    result = graph(changed_column(unique, "thing", "code", nulls=nulls))
    assert result.keys["thing"] == (() if nulls else ("code",))
    assert len(result.children["thing"]) == 1 - nulls


def test_the_same_reference_counts_once() -> None:
    twice = [reference("sale", "thing_id", "thing", "id")] * 2
    assert len(related(*twice).parents["sale"]) == 1


def test_the_key_is_the_chosen_one_if_it_holds() -> None:
    assert related().keys == {"thing": ("id",), "sale": ("id",)}


def test_without_a_key_what_others_refer_to_identifies_a_row() -> None:
    measured = source(SCHEMA, reference("sale", "thing_id", "thing", "code"))
    keyless = changed(
        measured, "thing", primary_key=None, declared_keys=(), candidate_keys=(("code",),)
    )
    assert graph(keyless).keys["thing"] == ("code",)


def test_a_broken_key_identifies_nothing() -> None:
    measured = source(SCHEMA)
    evidence = measured.table("thing").declared_keys[0].evidence
    broken = KeyClaim(columns=("id",), evidence=evidence.model_copy(update={"violations": 3}))
    result = graph(changed(measured, "thing", declared_keys=(broken,), candidate_keys=()))
    assert result.keys["thing"] == ()
    assert not result.is_unique("thing", ("id",))


def test_a_table_without_rows_and_key_is_identified_by_all_of_its_columns() -> None:
    assert graph(source("log what text, level", rows=0)).keys["log"] == ("what", "level")
    assert graph(source("log what text, level")).keys["log"] == ()


def test_a_referring_attribute_belongs_to_any_reference() -> None:
    result = related(
        reference("sale", "thing_id", "thing", "id"), reference("thing", "code", "thing", "id")
    )
    assert result.is_referring("sale", "thing_id")
    assert result.is_referring("thing", "code")
    assert not result.is_referring("sale", "amount")


def test_bounds_and_lengths_are_those_of_the_values() -> None:
    result = graph(changed_column(source(SCHEMA), "thing", "name", max_length=40))
    assert result.bounds["sale", "amount"] == (5, 900)
    assert math.isnan(result.bounds["thing", "name"][0])
    assert result.longest_texts["thing", "name"] == 40


@pytest.mark.parametrize(("nulls", "filled"), [(0, True), (100, True), (101, False)])
def test_a_reference_is_filled_if_half_of_the_rows_have_it(nulls: int, filled: bool) -> None:
    result = related(reference("sale", "thing_id", "thing", "id", nulls=nulls))
    assert is_filled(result.parents["sale"][0]) == filled


@pytest.mark.parametrize(
    ("facts", "mandatory"), [({}, True), ({"orphans": 1}, False), ({"nulls": 1}, False)]
)
def test_a_reference_is_mandatory_if_every_row_has_its_parent(
    facts: dict[str, int], mandatory: bool
) -> None:
    result = related(reference("sale", "thing_id", "thing", "id", **facts))
    assert is_mandatory(result.parents["sale"][0]) == mandatory
