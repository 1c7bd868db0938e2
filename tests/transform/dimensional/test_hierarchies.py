"""Bridges of hierarchies: all pairs of a member and those above it, worked out again in Python."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import sqlglot
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from fluid_build.modeling.logical import LogicalModel, model_json
from fluid_build.transform.dbt.dialects import dialect_of
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.targets import check_target
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.dbt.projects import TARGETS, schema_access
from tests.transform.dimensional.stars import Star, bridge, star

Parents = Mapping[int, int | None]

TREE: Parents = {n: None if n < 3 else n // 3 for n in range(1, 61)}
"""Sixty members on four levels, with two at the top."""


def statements(parents: Parents, none: str = "NULL") -> list[str]:
    """A table of categories, and sales that refer to them."""
    rows = ", ".join(
        f"({member}, 'Category {member}', {none if parent is None else parent})"
        for member, parent in parents.items()
    )
    return [
        "CREATE TABLE category (category_id INTEGER PRIMARY KEY, category_name VARCHAR,"
        " parent_category_id INTEGER)",
        f"INSERT INTO category VALUES {rows}",
        "CREATE TABLE sale (sale_id INTEGER PRIMARY KEY, category_id INTEGER REFERENCES category,"
        " sold_on DATE, amount DECIMAL(9,2))",
        f"INSERT INTO sale SELECT i, list_extract([{', '.join(map(str, parents))}],"
        f" 1 + i % {len(parents)}), DATE '2024-01-01' + CAST(i AS INTEGER), 1.5 * i"
        " FROM range(1, 200) t(i)",
    ]


def chain(parents: Parents, member: int) -> list[int]:
    """A member and all above it, until there is none or it comes round again."""
    found = [member]
    while (parent := parents.get(found[-1])) in parents and parent not in found:
        found.append(parent)
    return found


def closure(parents: Parents) -> set[tuple[object, ...]]:
    """The pairs, with depth, whether they end above and below, level and path."""
    above = {member: chain(parents, member)[1:2] for member in parents}
    with_child = {parent for listed in above.values() for parent in listed}
    pairs: set[tuple[object, ...]] = set()
    for member in parents:
        passed = chain(parents, member)
        path = " > ".join(f"Category {one}" for one in reversed(passed))
        for depth, ancestor in enumerate(passed):
            parent = parents[ancestor]
            is_root = parent not in parents or parent == ancestor
            is_cyclic = depth == len(passed) - 1 and not is_root
            is_leaf = member not in with_child
            pairs.add((ancestor, member, depth, is_root, is_leaf, is_cyclic, len(passed), path))
    return pairs


def built(found: Star, name: str = "brg_category_hierarchy") -> list[tuple[object, ...]]:
    dimension = found.star.dimension("dim_category")
    key = dimension.member_key
    members = f"(SELECT DISTINCT {key}, category_id FROM model.dim_category)"
    return found.rows(
        "SELECT a.category_id, d.category_id, depth, is_root, is_leaf, is_cyclic,"
        f" hierarchy_level, hierarchy_path FROM model.{name}"
        f" JOIN {members} a ON a.{key} = ancestor_{key}"
        f" JOIN {members} d ON d.{key} = descendant_{key}"
    )


def assert_closed(found: Star, parents: Parents) -> None:
    rows = built(found)
    assert len(rows) == len(set(rows)) == found.built.rows("model.brg_category_hierarchy")
    assert set(rows) == closure(parents)
    assert found.failures() == []


CIRCLE: Parents = {**TREE, 61: 62, 62: 63, 63: 61, 64: 63, 65: 64}
ORPHANS: Parents = {**TREE, 70: 999, 71: 70, 72: 998}
OWN: Parents = {**{member: parent or member for member, parent in TREE.items()}}


@pytest.mark.parametrize(
    ("parents", "none"),
    [(TREE, "NULL"), (TREE, "0"), (TREE, "-1"), (CIRCLE, "NULL"), (ORPHANS, "NULL"), (OWN, "0")],
    ids=["tree", "zero", "minus one", "circle", "missing parents", "its own parent"],
)
def test_a_member_is_paired_with_all_that_are_above_it(
    tmp_path: Path, parents: Parents, none: str
) -> None:
    with star(tmp_path, statements(parents, none)) as found:
        assert_closed(found, parents)


def test_paths_name_members_so_that_a_separator_in_a_name_is_none(tmp_path: Path) -> None:
    """A member without a name is called by its key."""
    rename = "UPDATE category SET category_name = {} WHERE category_id = {}"
    renamed = [rename.format("'a > b'", 1), rename.format("NULL", 3), rename.format("' c>'", 9)]
    with star(tmp_path, [*statements(TREE), *renamed]) as found:
        paths = {row[1]: row[7] for row in built(found) if row[2] == 0}
    assert (paths[1], paths[27]) == ("a >> b", "a >> b > 3 >  c>> > Category 27")


EMPLOYEES = (
    "CREATE TABLE employee (employee_no VARCHAR PRIMARY KEY, first_name VARCHAR, last_name VARCHAR,"
    " email VARCHAR, manager_no VARCHAR)",
    "INSERT INTO employee SELECT 'E' || i, ['Ada', 'Ben', 'Cy'][i % 3 + 1], 'Lee' || i,"
    " 'e' || i || '@example.org', CASE WHEN i > 1 THEN 'E' || i // 2 END FROM range(1, 41) t(i)",
    "CREATE TABLE trip (trip_id INTEGER PRIMARY KEY, employee_no VARCHAR REFERENCES employee,"
    " started_on DATE, distance_km DECIMAL(9,2))",
    "INSERT INTO trip SELECT i, 'E' || (1 + i % 40), DATE '2024-01-01' + CAST(i AS INTEGER),"
    " i * 1.5 FROM range(1, 200) t(i)",
)


def test_people_are_in_paths_by_their_key(tmp_path: Path) -> None:
    """To erase a person, the paths of those below need no change."""
    with star(tmp_path, EMPLOYEES) as found:
        (path,) = found.rows(
            "SELECT DISTINCT hierarchy_path FROM model.brg_employee_hierarchy"
            " WHERE hierarchy_path LIKE '% > E21'"
        )
        assert path == ("E1 > E2 > E5 > E10 > E21",)
        assert found.failures() == []


def test_keys_of_several_columns_are_one_member(tmp_path: Path) -> None:
    made = [
        "CREATE TABLE account (chart VARCHAR, number INTEGER, account_name VARCHAR,"
        " parent_chart VARCHAR, parent_number INTEGER, PRIMARY KEY (chart, number),"
        " FOREIGN KEY (parent_chart, parent_number) REFERENCES account (chart, number))",
        *(
            f"INSERT INTO account SELECT c, n, 'Account ' || c || n, {parent}"
            f" FROM (VALUES ('a'), ('b')) a(c), range({first}, {2 * first}) b(n)"
            for first, parent in [(1, "NULL, NULL"), *((2**i, "c, n // 2") for i in range(1, 6))]
        ),
    ]
    with star(tmp_path, made) as found:
        assert found.failures() == []
        levels = found.rows(
            "SELECT hierarchy_level, count(*) FROM model.brg_account_hierarchy WHERE depth = 0"
            " GROUP BY ALL ORDER BY ALL"
        )
    assert levels == [(level, 2**level) for level in range(1, 7)]


@pytest.mark.parametrize(
    "parents",
    [
        {n: None if n < 3 else 1 + n % 2 for n in range(1, 61)},
        {n: n - 1 if n > 1 else None for n in range(1, 61)},
        {n: n + 1 if n % 2 else n - 1 for n in range(1, 61)},
    ],
    ids=["two levels", "a list", "partners"],
)
def test_only_a_tree_of_several_levels_has_a_bridge(tmp_path: Path, parents: Parents) -> None:
    """Neither a list, in which each refers to the one before, nor partners of each other."""
    with star(tmp_path, statements(parents)) as found:
        assert found.star.dimension("dim_category").links
        assert not found.star.bridges


def test_the_closure_that_a_source_has_itself_suffices(tmp_path: Path) -> None:
    pairs = ", ".join(str(pair[:3]) for pair in closure(TREE))
    own = [
        "CREATE TABLE category_closure (ancestor_id INTEGER REFERENCES category (category_id),"
        " descendant_id INTEGER REFERENCES category (category_id), distance INTEGER,"
        " PRIMARY KEY (ancestor_id, descendant_id))",
        f"INSERT INTO category_closure VALUES {pairs}",
    ]
    with star(tmp_path, [*statements(TREE), *own]) as found:
        assert [one.name for one in found.star.bridges] == ["brg_category_closure"]


def test_the_bridge_follows_the_source_and_gives_no_member_a_version(tmp_path: Path) -> None:
    """Who moves, goes and comes changes the pairs of all below, and only their own row."""
    with star(tmp_path, statements(TREE)) as found:
        before = found.built.rows("model.dim_category")
        found.change(
            "UPDATE shop.category SET parent_category_id = 2 WHERE category_id = 3",
            "DELETE FROM shop.sale WHERE category_id = 7",
            "DELETE FROM shop.category WHERE category_id = 7",
            "INSERT INTO shop.category VALUES (61, 'Category 61', 60)",
        )
        found.load()
        moved = {**TREE, 3: 2, 61: 60}
        del moved[7]
        assert_closed(found, moved)
        assert found.built.rows("model.dim_category") <= before + 2


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM model.{} WHERE depth = 2 AND is_leaf",
        "UPDATE model.{} SET depth = 3 WHERE depth = 2",
        "UPDATE model.{0} SET ancestor_{1} = descendant_{1} WHERE depth = 1",
        "INSERT INTO model.{0} SELECT * FROM model.{0} WHERE depth = 0 LIMIT 1",
    ],
)
def test_a_pair_that_is_missing_or_made_up_is_noticed(tmp_path: Path, change: str) -> None:
    with star(tmp_path, statements(TREE)) as found:
        key = found.star.dimension("dim_category").member_key
        found.change(change.format("brg_category_hierarchy", key))
        (table,) = (t for t in found.proof().tables if t.table == "category")
        assert not all(check.holds for check in table.checks)


def test_the_bridge_says_what_it_is_made_of(tmp_path: Path) -> None:
    with star(tmp_path, statements(CIRCLE)) as found:
        result = bridge(found.star, "brg_category_hierarchy")
        assert result.reason == (
            "By category.parent_category_id, 65 rows are on 4 levels below 2 without a parent."
            " 5 of its rows lead into a circle, which is cut: is_cyclic says where."
        )
        assert (result.left, result.right) == ("dim_category", "dim_category")
        read_back = LogicalModel.model_validate_json(model_json(found.model))
        assert transform_plan(read_back) == found.plan


@pytest.mark.parametrize("target", TARGETS)
def test_the_bridge_is_written_for_every_target(tmp_path: Path, target: str) -> None:
    """BigQuery can't put a recursive query into another one, as a contract of dbt does."""
    with star(tmp_path, statements(TREE)) as found:
        model, plan = found.model, found.plan
    sql = dialect_of(check_target(target)).query(plan.build("brg_category_hierarchy").sql)
    assert isinstance(sqlglot.parse_one(sql, read=target), sqlglot.exp.Query)
    access = schema_access(plan, "raw", {"type": target})
    files = dbt_project(plan, model, target=target, access=access)
    entries = yaml.safe_load(files["models/marts/_marts.yml"])["models"]
    (entry,) = (entry for entry in entries if entry["name"] == "brg_category_hierarchy")
    assert ("contract" in entry["config"]) == (target != "bigquery")


@pytest.fixture(scope="module")
def reloaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Star]:
    with star(tmp_path_factory.mktemp("hierarchy"), statements(TREE)) as found:
        yield found


@settings(max_examples=25)
@given(
    st.dictionaries(st.integers(1, 12), st.none() | st.integers(-1, 12), min_size=1, max_size=12)
)
def test_the_bridge_is_the_closure_of_whatever_the_parents_are(
    reloaded: Star, parents: dict[int, int | None]
) -> None:
    """Trees, several roots, circles, missing parents and members that are their own."""
    reloaded.change("DELETE FROM shop.sale", "DELETE FROM shop.category")
    reloaded.change(statements(parents)[1].replace("INTO category", "INTO shop.category"))
    reloaded.load()
    assert set(built(reloaded)) == closure(parents)
