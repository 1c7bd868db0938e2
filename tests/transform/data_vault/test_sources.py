"""Sources as they come: every type, odd names, circles, empty tables, keys in several types."""

from pathlib import Path

import pytest
from hypothesis import given

from fluid_build.modeling.sql_names import RESERVED
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling.profile import Profile
from fluid_build.transform.plan.techniques import rebuilds, transform_plan
from tests.modeling.profiles import NASTY, profiles, reference
from tests.transform.data_vault.vaults import vault
from tests.transform.databases import EVERY_TYPE


@given(profiles())
def test_every_profile_has_a_plan_with_legal_names(measured: Profile) -> None:
    """No two relations and no two columns share a name, and none needs quotes anywhere."""
    model = build_model(measured, "data_vault_2")
    plan = transform_plan(model)
    names = [one.name for one in plan.builds]
    assert len(set(names)) == len(names)
    known = set()
    for one in plan.builds:
        columns = [column.name for column in one.columns]
        assert len(set(columns)) == len(columns)
        for name in (one.name, *columns):
            assert name.isidentifier() and name.isascii() and name == name.lower()
            assert len(name) <= 63
            assert name not in RESERVED
        assert known.issuperset(one.ref_models)
        known.add(one.name)
        tests = [test.name for test in one.tests]
        assert len(set(tests)) == len(tests)
    assert [rebuild.table for rebuild in rebuilds(model)] == [t.name for t in measured.tables]
    assert type(model).model_validate_json(model.model_dump_json(by_alias=True)) == model


@pytest.mark.parametrize("keyed", [True, False], ids=["with a key", "without a key"])
def test_every_type_comes_back_as_it_was(tmp_path: Path, keyed: bool) -> None:
    """A table with a column of every type is rebuilt to the last bit, and loaded once."""
    twice = (
        EVERY_TYPE
        if keyed
        else EVERY_TYPE.replace("i AS", "i % 4 AS").replace("1 + i %", "1 + i % 2 %")
    )
    with vault(tmp_path, [twice.replace("uuid()", "md5((i % 2)::VARCHAR)::UUID")]) as types:
        assert bool(types.dv2.keyless_tables) != keyed
        assert types.lost() == {}
        assert types.load() == {}
        assert types.lost() == {}


_KEY_TYPES = [
    ("BOOLEAN", "i % 2 = 0"),
    ("TINYINT", "i"),
    ("HUGEINT", "i::HUGEINT * 10::HUGEINT ** 20"),
    ("UBIGINT", "18446744073709551615 - i"),
    ("DOUBLE", "i / 7"),
    ("DECIMAL(12, 3)", "i / 8"),
    ("VARCHAR", "'|' || chr(92 + i::INTEGER % 3) || i"),
    ("BLOB", "encode(chr(92) || i)"),
    ("DATE", "DATE '2020-01-01' + i::INTEGER"),
    ("TIME", "TIME '10:00:00' + INTERVAL 1 SECOND * i"),
    ("TIMESTAMP", "TIMESTAMP '2020-01-01 10:00:00.25' + INTERVAL 1 SECOND * i"),
    ("TIMESTAMP_NS", "make_timestamp_ns(1577872800000000000 + i)"),
    ("TIMESTAMPTZ", "TIMESTAMPTZ '2020-01-01 10:00:00+02' + INTERVAL 1 HOUR * i"),
    ("UUID", "md5(i::VARCHAR)::UUID"),
    ("ENUM('a', 'b', 'c')", "['a', 'b', 'c'][1 + i]"),
]


@pytest.mark.parametrize(("type_", "value"), _KEY_TYPES, ids=[type_ for type_, _ in _KEY_TYPES])
def test_a_key_may_be_of_any_type(tmp_path: Path, type_: str, value: str) -> None:
    """Parent, child and their link are loaded and given back."""
    rows = 2 if type_ == "BOOLEAN" else 3
    statements = [
        f"CREATE TABLE parent (id {type_} PRIMARY KEY, label VARCHAR, kind VARCHAR, more VARCHAR)",
        f"CREATE TABLE child (no INTEGER PRIMARY KEY, parent_id {type_}, name VARCHAR)",
        f"INSERT INTO parent SELECT {value}, 'p' || i, 'k', 'm' FROM range({rows}) r(i)",
        f"INSERT INTO child SELECT i, CASE WHEN i > 0 THEN {value} END, 'c'"
        f" FROM range({rows}) r(i)",
    ]
    with vault(tmp_path, statements, [reference("child", "parent_id", "parent", "id")]) as found:
        (link,) = found.dv2.links
        assert all(hub.lookup is None for hub in link.hubs)
        assert found.sizes()[link.name] == rows - 1
        assert found.lost() == {}
        assert found.broken() == {}
        assert found.load() == {}


@pytest.mark.parametrize(
    ("parent", "child", "direct", "hub_type"),
    [
        ("INTEGER", "BIGINT", True, "BIGINT"),
        ("BIGINT", "SMALLINT", True, "BIGINT"),
        ("UINTEGER", "INTEGER", True, "BIGINT"),
        ("DECIMAL(10, 0)", "INTEGER", True, "DECIMAL(10,0)"),
        ("DECIMAL(10, 2)", "DECIMAL(18, 2)", True, "DECIMAL(18,2)"),
        ("INTEGER", "DOUBLE", False, "INTEGER"),
        ("INTEGER", "DECIMAL(10, 2)", False, "INTEGER"),
        ("DATE", "TIMESTAMP", False, "DATE"),
        ("VARCHAR", "ENUM('x1', 'x2', 'x3', 'x4', 'x5')", True, "VARCHAR"),
        ("DOUBLE", "INTEGER", False, "DOUBLE"),
    ],
)
def test_a_reference_of_another_type_still_reaches_its_hub(
    tmp_path: Path, parent: str, child: str, direct: bool, hub_type: str
) -> None:
    """Where both are written alike it loads the hub, else the key is looked up by its value."""
    value = {"DATE": "DATE '2020-01-01' + i::INTEGER", "VARCHAR": "'x' || i"}.get(parent, "i")
    statements = [
        f"CREATE TABLE parent (id {parent} PRIMARY KEY, label VARCHAR, kind VARCHAR, more VARCHAR)",
        f"CREATE TABLE child (no INTEGER PRIMARY KEY, parent_id {child}, name VARCHAR)",
        f"INSERT INTO parent SELECT {value}, 'a', 'b', 'c' FROM range(1, 9) r(i)",
        f"INSERT INTO child SELECT i, {value}, 'c' FROM range(1, 6) r(i)",
    ]
    with vault(tmp_path, statements, [reference("child", "parent_id", "parent", "id")]) as found:
        (link,) = found.dv2.links
        assert (link.hubs[1].lookup is None) == direct
        assert found.plan.build("hub_parent").column("id").type == hub_type
        expected = 0 if (parent, child) == ("DATE", "TIMESTAMP") else 5
        assert found.sizes()[link.name] == expected
        assert found.lost() == {}
        assert found.broken() == {}


def test_circles_of_references_are_loaded(tmp_path: Path) -> None:
    """Tables that refer to each other, and to themselves, come out like any."""
    statements = [
        "CREATE TABLE a (id INTEGER PRIMARY KEY, b_id INTEGER, a_id INTEGER, x VARCHAR)",
        "CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INTEGER, y VARCHAR)",
        "INSERT INTO a SELECT i, 5 - i, i % 3 + 1, 'x' FROM range(1, 5) r(i)",
        "INSERT INTO b SELECT i, 5 - i, 'y' FROM range(1, 5) r(i)",
    ]
    references = [
        reference("a", "b_id", "b", "id"),
        reference("b", "a_id", "a", "id"),
        reference("a", "a_id", "a", "id"),
    ]
    with vault(tmp_path, statements, references) as found:
        kinds = {link.link_type for link in found.dv2.links}
        assert kinds == {"standard", "hierarchical"}
        assert (found.lost(), found.broken(), found.load()) == ({}, {}, {})


def test_tables_whose_keys_are_each_others_have_one_hub(tmp_path: Path) -> None:
    """Of a circle of one-to-one tables the largest has the hub, the others hang on it."""
    statements = [
        "CREATE TABLE a AS SELECT i AS id, 'a' || i AS x FROM range(5) r(i)",
        "CREATE TABLE b AS SELECT i AS id, 'b' || i AS y FROM range(7) r(i)",
        "CREATE TABLE c AS SELECT i AS id, 'c' || i AS z FROM range(3) r(i)",
        *(f"ALTER TABLE {table} ADD PRIMARY KEY (id)" for table in "abc"),
    ]
    references = [
        reference(*pair)
        for pair in (("a", "id", "b", "id"), ("b", "id", "c", "id"), ("c", "id", "a", "id"))
    ]
    with vault(tmp_path, statements, references) as found:
        assert [hub.name for hub in found.dv2.hubs] == ["hub_b"]
        assert {s.parent for s in found.dv2.satellites} == {"hub_b"}
        assert (found.lost(), found.broken(), found.load()) == ({}, {}, {})


def test_a_parent_that_is_referred_to_three_times_has_three_links(tmp_path: Path) -> None:
    """Each reference has a role of its own."""
    statements = [
        "CREATE TABLE address (id INTEGER PRIMARY KEY, city VARCHAR, street VARCHAR, no VARCHAR)",
        "CREATE TABLE parcel (id INTEGER PRIMARY KEY, address_id INTEGER, from_address_id INTEGER,"
        " to_address_id INTEGER, name VARCHAR)",
        "INSERT INTO address SELECT i, 'c', 's', 'n' FROM range(9) r(i)",
        "INSERT INTO parcel SELECT i, 1, i % 3, CASE WHEN i > 2 THEN i % 5 END,"
        " concat('p', i) FROM range(9) r(i)",
    ]
    references = [
        reference("parcel", "address_id", "address", "id"),
        reference("parcel", "from_address_id", "address", "id", role="from"),
        reference("parcel", "to_address_id", "address", "id", role="to"),
    ]
    with vault(tmp_path, statements, references) as found:
        assert [link.name for link in found.dv2.links] == [
            "lnk_parcel_address",
            "lnk_parcel_address_from",
            "lnk_parcel_address_to",
        ]
        assert (found.lost(), found.broken(), found.load()) == ({}, {}, {})


def test_tables_without_rows_or_without_more_than_a_key_are_loaded(tmp_path: Path) -> None:
    """They have a hub and a satellite that says what is there; rows may come later."""
    statements = [
        "CREATE TABLE tag (id INTEGER PRIMARY KEY)",
        "INSERT INTO tag VALUES (1), (2)",
        "CREATE TABLE later (id INTEGER PRIMARY KEY, tag_id INTEGER, x VARCHAR)",
        "CREATE TABLE nothing (x VARCHAR, y BLOB)",
    ]
    with vault(tmp_path, statements, [reference("later", "tag_id", "tag", "id")]) as found:
        assert (found.lost(), found.broken(), found.load()) == ({}, {}, {})
        found.change(
            "INSERT INTO shop.later VALUES (1, 2, 'x'), (2, NULL, NULL)",
            "INSERT INTO shop.nothing VALUES ('a', NULL), ('a', NULL), (NULL, 'b')",
            "DELETE FROM shop.tag WHERE id = 1",
        )
        assert found.load()["eff_sat_tag"] == 1
        assert (found.lost(), found.broken(), found.load()) == ({}, {}, {})


def test_any_names_are_loaded(tmp_path: Path) -> None:
    """Names that clash, that are long, that are reserved, and that are those of our own columns."""
    names = [name for name in dict.fromkeys(NASTY) if name.strip() and "\0" not in name]
    ours = [
        "load_date",
        "hash_diff",
        "is_deleted",
        "record_source",
        "row_hash",
        "multiplicity",
        "recency",
        "surplus",
        "place",
        "precedence",
        "arriving",
        "latest",
        "kept",
        "own",
        "link",
        "hub",
        "t_hk",
        "t_lk",
        "hub_t",
        "sat_t",
        "staged",
        "history",
        "known",
    ]
    columns = ", ".join(f"{name} VARCHAR" for name in ours)
    statements = [
        statement
        for name in ("t", "hub_t", "sat_t", "stg_t", "stg_hashed_t", "kept")
        for statement in (
            f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, {columns})",
            f"INSERT INTO {name} (id, link) VALUES (1, 'x'), (2, NULL)",
        )
    ]
    for name in {name.lower(): name for name in names}.values():
        quoted = '"' + name.replace('"', '""') + '"'
        statements.append(f"CREATE TABLE {quoted} AS SELECT 1 AS {quoted}, 2 AS b")
    references = [reference("hub_t", "id", "t", "id"), reference("sat_t", "hub", "hub_t", "own")]
    with vault(tmp_path, statements, references) as found:
        assert (found.lost(), found.broken(), found.load()) == ({}, {}, {})


def test_a_key_that_the_data_violates_is_no_key(tmp_path: Path) -> None:
    """Such a table is kept row by row, and references to it remain columns."""
    statements = [
        "CREATE TABLE t AS SELECT i % 5 AS id, 'x' || i % 2 AS x FROM range(20) r(i)",
        "CREATE TABLE child AS SELECT i AS id, i % 5 AS t_id FROM range(20) r(i)",
        "ALTER TABLE child ADD PRIMARY KEY (id)",
    ]
    with vault(tmp_path, statements, [reference("child", "t_id", "t", "id")]) as found:
        assert [table.name for table in found.dv2.keyless_tables] == ["psa_t"]
        assert found.dv2.links == ()
        assert found.dv2.satellites[0].columns == ("t_id",)
        assert (found.lost(), found.broken(), found.load()) == ({}, {}, {})
