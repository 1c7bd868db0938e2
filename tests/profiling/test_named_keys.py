"""What names of columns say together: a role of several, a table with its key, a table alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fluid_build.profiling.names.key_names import reference_score
from fluid_build.profiling.names.parsing import parse_names
from fluid_build.profiling.weights import DEFAULT_WEIGHTS
from tests.profiling.databases import profiled, references

PLACES = """
    CREATE TABLE {parent} AS SELECT ['north', 'south', 'west'][1 + i % 3] AS {first},
        1000 + i // 3 AS {second}, 'thing ' || i AS remark FROM range(90) t(i);
    CREATE TABLE reading AS SELECT 70000 + 7 * i AS reading_id,
        ['north', 'south', 'west'][1 + i % 3] AS {first}, p.{first} AS {role_first},
        p.{second} AS {role_second} FROM range(400) t(i)
        JOIN (SELECT *, row_number() OVER () AS n FROM {parent}) p ON p.n = 1 + pick(i, 3, 80);
"""
PARENTS = ("datum", "survey_station", "depot")
MEMBERS = (("source_name", "code"), ("region", "number"), ("client", "number_in_it"))
ROLES = ("{}", "first_{}", "other_{}")


@settings(max_examples=5, deadline=None)
@given(
    parent=st.sampled_from(PARENTS),
    members=st.sampled_from(MEMBERS),
    role=st.sampled_from(ROLES),
    is_front=st.booleans(),
)
def test_members_of_one_role_refer_together(
    parent: str, members: tuple[str, str], role: str, is_front: bool
) -> None:
    """Though the table has a column with the very name of a member, and it fits as well."""
    first, second = members
    role = role.format(parent)
    with_role = [f"{role}_{name}" if is_front else f"{name}_{role}" for name in members]
    profile = profiled(
        PLACES.format(
            parent=parent,
            first=first,
            second=second,
            role_first=with_role[0],
            role_second=with_role[1],
        )
    )
    shown = f"reading({', '.join(with_role)}) -> {parent}({first}, {second})"
    assert [each for each in references(profile) if each.startswith("reading")] == [shown]


NATIONS = """
    CREATE TABLE {table} AS SELECT 'alpha ' || (i % 26) || i AS title,
        'Q' || (i * 7919 % 900 + 100) || (i % 26) AS {key}, 'x' || i * 31 AS secret
        FROM range(60) t(i);
    CREATE TABLE a AS SELECT 8000 + 3 * i AS a_id, n.{key} AS {column} FROM range(300) t(i)
        JOIN (SELECT *, row_number() OVER () AS r FROM {table}) n ON n.r = 1 + pick(i, 1, 60);
    CREATE TABLE b AS SELECT 9000 + 5 * i AS b_id, n.{key} AS {column} FROM range(200) t(i)
        JOIN (SELECT *, row_number() OVER () AS r FROM {table}) n ON n.r = 1 + pick(i, 2, 60);
"""


@pytest.mark.parametrize("key", ["vat", "mail", "fiscal", "remark"])
@pytest.mark.parametrize("table, column", [("winery", "winery"), ("rider", "first_rider")])
def test_what_columns_named_for_a_table_repeat_is_its_key(
    key: str, table: str, column: str
) -> None:
    """Of several unique columns, the one whose values they hold, whatever it's called."""
    profile = profiled(NATIONS.format(table=table, key=key, column=column))
    assert profile.table(table).primary_key == (key,)
    assert {f"{t}({column}) -> {table}({key})" for t in "ab"} <= references(profile)


@given(
    table=st.sampled_from(["states", "order_types", "Ingredients"]),
    key=st.sampled_from(["code", "sign", "short_name"]),
    is_front=st.booleans(),
)
def test_a_table_with_its_key_in_one_name_means_that_key(
    table: str, key: str, is_front: bool
) -> None:
    one = {"states": "state", "order_types": "order_type", "Ingredients": "ingredient"}[table]
    column = f"{one}_{key}" if is_front else f"{key}_{one}"
    child, parent, _ = parse_names(
        [("visit", ["visit_id", column]), (table, ["no", key]), ("other", ["other_id", "x"])]
    )
    weights = DEFAULT_WEIGHTS.names
    score = reference_score(child.columns[1], parent.columns[1], parent.table, 0.0, weights)
    assert score >= weights.table_and_key


@pytest.mark.parametrize("rows, more", [(4, 9), (40, 300)])
def test_a_column_that_happens_to_be_unique_refers_by_its_plain_name(rows: int, more: int) -> None:
    """While each client is in one group, ``client_id`` is the key of the pairs as well."""
    profile = profiled(
        f"""
        CREATE TABLE client AS SELECT 1 + i AS id, 'c' || i AS name FROM range({more}) t(i);
        CREATE TABLE team AS SELECT 1 + i AS id, 't' || i AS name FROM range({more}) t(i);
        CREATE TABLE team_client AS SELECT 1 + i AS client_id, 1 + pick(i, 1, 3) AS team_id
            FROM range({rows}) t(i);
        """
    )
    assert "team_client(client_id) -> client(id)" in references(profile)
