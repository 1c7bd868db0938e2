"""The JSON of a profile has just the shape that is documented."""

import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic_core import to_json

from fluid_build.errors import SourceUnreadableError
from fluid_build.profiling.profile import Profile
from fluid_build.report.profile_json import profile_document, profile_json, read_profile
from tests.profiling.databases import profiled
from tests.profiling.domains import LIBRARY

COLUMN = {
    "name": str,
    "type": str,
    "nullable": bool,
    "nulls": int,
    "distinct": int,
    "semantic_type": (str, type(None)),
    "pii": bool,
}
EVIDENCE = {"rows": int, "matched": int, "orphans": int, "exact": bool, "sql": str}


@pytest.fixture(scope="module")
def profile() -> Profile:
    return profiled(
        LIBRARY.script + "CREATE TABLE log AS SELECT i % 2 AS a FROM range(9) t(i);"
        "CREATE TABLE nothing (id INTEGER)"
    )


@pytest.fixture(scope="module")
def shape(profile: Profile) -> Any:
    return json.loads(json.dumps(profile_json(profile), allow_nan=False))


def test_the_top_holds_tables_and_foreign_keys(shape: Any) -> None:
    """Nothing else is at the top."""
    assert list(shape) == ["tables", "foreign_keys"]
    assert [table["name"] for table in shape["tables"]] == sorted(
        ["author", "book", "book_author", "copy", "loan", "log", "member", "nothing", "publisher"]
    )


def test_candidates_are_left_out() -> None:
    """What isn't believed is in the model, and the JSON of a profile keeps its shape."""
    made = profiled(
        "CREATE TABLE country AS SELECT 1 + i AS country_id FROM range(60) t(i);"
        "CREATE TABLE colour AS SELECT 1 + i AS colour_id FROM range(60) t(i);"
        "CREATE TABLE visit AS SELECT 7 * i AS visit_id, 1 + pick(i, 1, 60) AS origin_id"
        " FROM range(500) t(i)"
    )
    assert made.candidates
    without = made.model_copy(update={"candidates": ()})
    assert json.dumps(profile_json(made)) == json.dumps(profile_json(without))


def test_a_table_has_just_the_documented_keys(shape: Any) -> None:
    """Name, rows, columns, primary key and candidate keys, in this order and of these types."""
    for table in shape["tables"]:
        assert list(table) == ["name", "rows", "columns", "primary_key", "candidate_keys"]
        assert (type(table["name"]), type(table["rows"])) == (str, int)
        keys = [*table["candidate_keys"], *([table["primary_key"]] if table["primary_key"] else [])]
        assert all(key and all(type(name) is str for name in key) for key in keys)


def test_a_table_without_a_key_has_null(shape: Any) -> None:
    """No key is null, and no candidates are an empty list."""
    by_name = {table["name"]: table for table in shape["tables"]}
    for name in ("log", "nothing"):
        assert (by_name[name]["primary_key"], by_name[name]["candidate_keys"]) == (None, [])


def test_a_column_begins_with_the_documented_keys(shape: Any) -> None:
    """The documented figures come first, of their documented types."""
    for table in shape["tables"]:
        for column in table["columns"]:
            assert list(column)[: len(COLUMN)] == list(COLUMN)
            assert all(isinstance(column[name], type_) for name, type_ in COLUMN.items())


def test_a_foreign_key_has_just_the_documented_keys(shape: Any) -> None:
    """From, to, origin, implied, confidence and evidence, in this order and of these types."""
    assert shape["foreign_keys"]
    for key in shape["foreign_keys"]:
        assert list(key) == [
            *("from_table", "from_columns", "to_table", "to_columns"),
            *("origin", "implied", "confidence", "evidence"),
        ]
        assert len(key["from_columns"]) == len(key["to_columns"]) > 0
        assert key["origin"] in {"declared", "measured"}
        assert (type(key["implied"]), type(key["confidence"])) == (bool, float)
        assert all(type(key["evidence"][name]) is type_ for name, type_ in EVIDENCE.items())


def test_every_name_points_at_something(shape: Any) -> None:
    """Keys and references speak only of tables and columns that are listed."""
    columns = {t["name"]: {c["name"] for c in t["columns"]} for t in shape["tables"]}
    for table in shape["tables"]:
        for key in (*table["candidate_keys"], table["primary_key"] or []):
            assert set(key) <= columns[table["name"]]
    for key in shape["foreign_keys"]:
        assert set(key["from_columns"]) <= columns[key["from_table"]]
        assert set(key["to_columns"]) <= columns[key["to_table"]]


def test_special_floats_are_written_as_text() -> None:
    """NaN and infinity, which JSON does not know, are text where they bound a column."""
    made = profiled("CREATE TABLE t AS SELECT unnest(['nan', 'inf', '-inf', '1']::DOUBLE[]) AS c")
    column = json.loads(json.dumps(profile_json(made), allow_nan=False))["tables"][0]["columns"][0]
    assert (column["min"], column["max"]) == ("-inf", "nan")


def values_of(annotation: Any) -> st.SearchStrategy[Any]:
    """Any value of a field of a profile, by its annotation."""
    arguments = get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields.items()
        return st.builds(annotation, **{name: values_of(each.annotation) for name, each in fields})
    if is_dataclass(annotation):
        hints = get_type_hints(annotation)
        return st.builds(annotation, **{name: values_of(hint) for name, hint in hints.items()})
    if get_origin(annotation) is Mapping:
        return st.dictionaries(*map(values_of, arguments), max_size=2)
    if get_origin(annotation) is tuple:
        return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
    if get_origin(annotation) in (UnionType, Union):
        return st.one_of(*map(values_of, arguments))
    if get_origin(annotation) is Literal:
        return st.sampled_from(arguments)
    return {
        str: st.text(max_size=4),
        int: st.integers(0, 2**63),
        float: st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
        type(None): st.none(),
    }[annotation]


@given(values_of(Profile))
def test_any_profile_is_read_as_it_was_written(profile: Profile) -> None:
    """The file holds all of a profile, whatever is in it."""
    text = to_json(profile_document(profile)).decode()
    assert read_profile(text, Path("profile.json")) == profile


def test_a_measured_profile_is_read_as_it_was_written(profile: Profile) -> None:
    text = json.dumps(profile_document(profile), allow_nan=False)
    assert read_profile(text, Path("profile.json")) == profile


def test_the_file_adds_fields_to_the_public_shape(profile: Profile, shape: Any) -> None:
    """Readers of the public shape find it in the file, with the same values and first."""
    document = json.loads(json.dumps(profile_document(profile)))
    assert list(document)[:2] == list(shape)
    for kind in ("tables", "foreign_keys"):
        for public, entry in zip(shape[kind], document[kind], strict=True):
            assert list(entry)[: len(public)] == list(public)
            assert {name: entry[name] for name in public} == public


@pytest.mark.parametrize("text", ["", "[]", '{"tables": []}', '{"tables": 3}', "[" * 100_000])
def test_another_document_is_refused_with_advice(text: str) -> None:
    with pytest.raises(SourceUnreadableError) as raised:
        read_profile(text, Path("profile.json"))
    assert "isn't as `fluid forge` writes it" in raised.value.message
    assert raised.value.hint is not None
    assert "Run `fluid forge` again." in raised.value.hint
