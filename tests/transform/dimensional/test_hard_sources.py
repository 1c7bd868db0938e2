"""Sources that are no textbook: any type, any name, circles, nothing at all."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fluid_build.modeling.sql_names import RESERVED
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.transform.plan.execution import built
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.proof import prove
from tests.modeling.profiles import reference
from tests.transform.databases import EVERY_TYPE
from tests.transform.dimensional.stars import fact, star, star_of

TYPES = (
    EVERY_TYPE,
    """CREATE TABLE event AS SELECT
        i AS id, 1 + i % 5 AS thing, TIMESTAMP '2020-05-05 01:00:00' + i * INTERVAL 1 DAY AS at,
        [i, 2] AS list, {'a': i} AS struct, '{"a": 1}'::JSON AS json, 'x'::BLOB AS blob,
        INTERVAL 3 MONTH AS gap, TIMESTAMPTZ '2020-01-01 10:00:00+02' AS seen,
        CASE WHEN i % 2 = 0 THEN 'nan'::DOUBLE ELSE i * 0.1 END AS weight,
        (i * 1e17)::HUGEINT AS volume
    FROM range(60) r(i)""",
    """CREATE TABLE thing AS SELECT i AS id, 'n' || i AS name, [i] AS list, 'b'::BLOB AS blob,
        INTERVAL 2 DAY AS gap, '[1]'::JSON AS json, {'x': i} AS struct FROM range(1, 6) r(i)""",
)

NAMES = (
    'CREATE TABLE "select" ("order" INTEGER PRIMARY KEY, "name" VARCHAR, "valid_from" VARCHAR,'
    ' "select key" VARCHAR, "SelectKey" VARCHAR, "is_current" BOOLEAN, "Größe" VARCHAR)',
    'CREATE TABLE "members" ("id" INTEGER PRIMARY KEY, "name" VARCHAR, "select" INTEGER,'
    ' "select_key" INTEGER)',
    f'CREATE TABLE "{"x" * 70}" ("{"y" * 80}" INTEGER PRIMARY KEY, "{"y" * 79}z" DATE,'
    ' "members" INTEGER, "customer_key" INTEGER, "a b" INTEGER, "a_b" INTEGER,'
    ' "amount" DECIMAL(9, 2), "ordered date" DATE, "ordered_date_key" INTEGER)',
    "INSERT INTO \"select\" SELECT i, 'n' || i, 'v' || i, 'k' || i, 'l' || i, i % 2 = 0,"
    " 'g' || i FROM range(1, 9) r(i)",
    "INSERT INTO members SELECT i, 'm' || i, 1 + i % 8, 1 + i % 3 FROM range(1, 31) r(i)",
    f"INSERT INTO \"{'x' * 70}\" SELECT i, DATE '2024-01-01' + i::INTEGER, 1 + i % 30, i % 7,"
    " i % 5, i % 6, i * 1.5, DATE '2024-02-01' + i::INTEGER % 9, i % 4 FROM range(1, 91) r(i)",
)


def test_every_type_is_kept(tmp_path: Path) -> None:
    """Nested, binary, intervals, instants: they come back as they were, and sums are the same."""
    references = [reference("event", "thing", "thing", "id")]
    with star(tmp_path, TYPES, references) as found:
        assert found.failures() == []
        assert found.load() == {}


def test_names_that_clash_or_are_reserved_are_legal_and_apart(tmp_path: Path) -> None:
    """No name is a reserved word, too long or used twice, whatever the source calls things."""
    long = "x" * 70
    references = [
        reference("members", "select", "select", "order"),
        reference(long, "members", "members", "id"),
    ]
    with star(tmp_path, NAMES, references) as found:
        assert found.failures() == []
        for one in found.plan.builds:
            names = [column.name for column in one.columns]
            assert len(set(names)) == len(names)
            assert all(len(name) <= 63 and name not in RESERVED for name in (*names, one.name))


def test_dates_far_off_do_not_blow_up_the_calendar(tmp_path: Path) -> None:
    """The end of time, its beginning and no date at all are days like others, or none."""
    statements = (
        "CREATE TABLE sale (id INTEGER PRIMARY KEY, sold DATE, amount DECIMAL(9, 2))",
        "INSERT INTO sale SELECT i, DATE '2024-03-01' + i::INTEGER, i FROM range(30) r(i)",
        "INSERT INTO sale VALUES (101, '9999-12-31', 1), (102, '0001-01-01', 1), (103, NULL, 1),"
        " (104, 'infinity', 1), (105, '-infinity', 1), (106, '294247-01-01', 1),"
        " (107, '0044-03-15 (BC)', 1)",
    )
    with star(tmp_path, statements) as found:
        assert found.failures() == []
        (days,) = found.rows("SELECT count(*) FROM model.dim_date")
        assert days < (5 * 366,)
        keys = dict(found.rows("SELECT id, sold_date_key FROM model.fct_sale WHERE id > 100"))
    assert keys[101] == 99991231
    assert keys[103] == -1
    assert len(set(keys.values())) == 7


def test_a_circle_of_references_is_broken(tmp_path: Path) -> None:
    """A store has a manager who works in a store; an order is the follow-up of another."""
    statements = (
        "CREATE TABLE store (id INTEGER PRIMARY KEY, name VARCHAR, manager INTEGER)",
        "CREATE TABLE staff (id INTEGER PRIMARY KEY, name VARCHAR, store INTEGER)",
        "CREATE TABLE sale (id INTEGER PRIMARY KEY, staff INTEGER, follows INTEGER, sold DATE,"
        " amount DECIMAL(9, 2))",
        "INSERT INTO store SELECT i, 's' || i, i FROM range(1, 5) r(i)",
        "INSERT INTO staff SELECT i, 'p' || i, 1 + i % 4 FROM range(1, 13) r(i)",
        "INSERT INTO sale SELECT i, 1 + i % 12, CASE WHEN i > 9 THEN i - 9 END,"
        " DATE '2024-01-01' + i::INTEGER, i FROM range(1, 61) r(i)",
    )
    references = [
        reference("store", "manager", "staff", "id"),
        reference("staff", "store", "store", "id"),
        reference("sale", "staff", "staff", "id"),
        reference("sale", "follows", "sale", "id"),
    ]
    with star(tmp_path, statements, references) as found:
        assert found.failures() == []


def test_orphans_are_counted_under_nobody(tmp_path: Path) -> None:
    """A value that leads nowhere lands on the unknown member, and is still there to be seen."""
    statements = (
        "CREATE TABLE thing (id INTEGER PRIMARY KEY, name VARCHAR)",
        "CREATE TABLE sale (id INTEGER PRIMARY KEY, thing INTEGER, sold DATE, amount DOUBLE)",
        "INSERT INTO thing SELECT i, 't' || i FROM range(1, 9) r(i)",
        "INSERT INTO sale SELECT i, 1 + i % 10, DATE '2024-01-01', i / 7 FROM range(1, 61) r(i)",
    )
    references = [reference("sale", "thing", "thing", "id", orphans=12, coverage=0.9)]
    with star(tmp_path, statements, references) as found:
        assert found.failures() == []
        rows = found.rows(
            "SELECT DISTINCT s.thing FROM model.fct_sale s JOIN model.dim_thing t USING (thing_key)"
            " WHERE t.id IS NULL ORDER BY 1"
        )
    assert rows == [(9,), (10,)]


def test_references_between_other_types_are_followed(tmp_path: Path) -> None:
    """A number in a float leads to the same number in an integer."""
    statements = (
        "CREATE TABLE thing (id BIGINT PRIMARY KEY, name VARCHAR)",
        "CREATE TABLE sale (id INTEGER PRIMARY KEY, thing DOUBLE, sold DATE, amount DOUBLE)",
        "INSERT INTO thing SELECT i, 't' || i FROM range(1, 9) r(i)",
        "INSERT INTO sale SELECT i, 1 + i % 8, DATE '2024-01-01', i / 7 FROM range(1, 61) r(i)",
    )
    with star(tmp_path, statements, [reference("sale", "thing", "thing", "id")]) as found:
        assert found.failures() == []
        assert found.rows("SELECT count(DISTINCT thing_key) FROM model.fct_sale") == [(8,)]


def test_a_line_whose_header_is_missing_is_not_lost(tmp_path: Path) -> None:
    """What it would have taken over is unknown, flags and dates included."""
    statements = (
        "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR)",
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, ordered DATE,"
        " is_gift BOOLEAN, is_late BOOLEAN, freight DOUBLE)",
        "CREATE TABLE line (orders INTEGER, no INTEGER, quantity INTEGER, price DOUBLE,"
        " PRIMARY KEY (orders, no))",
        "INSERT INTO customer SELECT i, 'c' || i FROM range(1, 9) r(i)",
        "INSERT INTO orders SELECT i, 1 + i % 8, DATE '2024-01-01', i % 2 = 0, i % 3 = 0, i"
        " FROM range(1, 31) r(i)",
        "INSERT INTO line SELECT 1 + i % 33, i // 33, 1 + i % 4, i / 3 FROM range(99) r(i)",
    )
    references = [
        reference("orders", "customer", "customer", "id"),
        reference("line", "orders", "orders", "id", orphans=9),
    ]
    with star(tmp_path, statements, references) as found:
        assert found.failures() == []
        assert found.rows("SELECT count(*) FROM model.fct_line WHERE ordered_date_key = -1") == [
            (9,)
        ]


@pytest.mark.parametrize(
    "statements",
    [
        ("CREATE TABLE empty (id INTEGER PRIMARY KEY, name VARCHAR, sold DATE, amount DOUBLE)",),
        ("CREATE TABLE bare (a VARCHAR)",),
        ("CREATE TABLE a (id INTEGER PRIMARY KEY, name VARCHAR)",
         "CREATE TABLE b (id INTEGER PRIMARY KEY, name VARCHAR, a INTEGER REFERENCES a (id))"),
        ("CREATE TABLE same (a INTEGER, b VARCHAR)",
         "INSERT INTO same SELECT 1, 'x' FROM range(50)"),
        ("CREATE TABLE lookup (code VARCHAR PRIMARY KEY, name VARCHAR)",
         "INSERT INTO lookup VALUES ('a', 'A'), ('b', 'B')"),
    ],
    ids=["no rows", "one column", "no rows, related", "all rows the same", "one lookup"],
)  # fmt: skip
def test_little_is_enough(tmp_path: Path, statements: tuple[str, ...]) -> None:
    """Whatever is there is built, and nothing of it is lost."""
    with star(tmp_path, statements) as found:
        assert found.failures() == []
        assert found.load() == {}


def test_structure_without_data_is_enough(tmp_path: Path) -> None:
    """DDL alone gives the same star, to be filled later."""
    script = tmp_path / "shop.sql"
    script.write_text(
        "CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL);\n"
        "CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT NOT NULL REFERENCES customer(id),"
        " ordered DATE NOT NULL, freight DECIMAL(9,2) NOT NULL);\n"
        "CREATE TABLE line (order_id INT NOT NULL REFERENCES orders(id), no INT NOT NULL,"
        " quantity INT NOT NULL, PRIMARY KEY (order_id, no));\n"
    )
    with open_source(script) as source:
        model = build_model(profile_source(source), "dimensional")
        with built(source, transform_plan(model)) as result:
            assert result.rows("model.dim_customer") == 1
    found = star_of(model)
    assert {one.name for one in found.facts} == {"fct_orders", "fct_line"}
    assert "customer_key" in {one.key for one in fact(found, "fct_line").dimensions}


@pytest.mark.parametrize("name", ["", " "])
def test_a_fact_beside_a_table_without_a_name_has_its_dates(tmp_path: Path, name: str) -> None:
    """The calendar has no table, and isn't made of the one whose name is empty."""
    file = tmp_path / "shop.db"
    with closing(sqlite3.connect(file)) as connection:
        for table, day in ((name, "at"), ("sale", " ")):
            columns = f'id INTEGER PRIMARY KEY, "{day}" DATE, amount REAL'
            connection.execute(f'CREATE TABLE "{table}" ({columns})')
            rows = [(i, f"2024-{1 + i % 12:02}-{1 + i % 28:02}", i * 1.5) for i in range(100)]
            connection.executemany(f'INSERT INTO "{table}" VALUES (?, ?, ?)', rows)
        connection.commit()
    with open_source(file) as source:
        model = build_model(profile_source(source), "dimensional")
        plan = transform_plan(model)
        with built(source, plan) as result:
            assert prove(result, model).verdict == "proven"
    assert "dim_date" in plan.build("fct_sale").ref_models


def test_a_declared_key_that_does_not_hold_is_not_leant_on(tmp_path: Path) -> None:
    """Rows that share a key are all kept, and references to it are left as they are."""
    statements = (
        "CREATE TABLE thing AS SELECT 1 + i % 9 AS id, 'n' || i % 4 AS name FROM range(20) r(i)",
        "CREATE TABLE sale AS SELECT i AS id, 1 + i % 9 AS thing, DATE '2024-01-01' AS sold,"
        " i * 0.5 AS amount FROM range(60) r(i)",
    )
    with star(tmp_path, statements, [reference("sale", "thing", "thing", "id")]) as found:
        assert found.failures() == []
        members = "SELECT count(*) FROM model.dim_thing WHERE id IS NOT NULL"
        assert found.rows(members) == [(20,)]


def test_rows_with_a_null_in_a_unique_key_are_kept(tmp_path: Path) -> None:
    """SQL lets them repeat, and no reference finds them: such a key identifies no member."""
    statements = (
        "CREATE TABLE place (country VARCHAR, region VARCHAR, name VARCHAR, motto VARCHAR,"
        " UNIQUE (country, region))",
        "CREATE TABLE visit (id INTEGER PRIMARY KEY, country VARCHAR, region VARCHAR,"
        " amount DOUBLE, day DATE, FOREIGN KEY (country, region) REFERENCES place (country,"
        " region))",
        "INSERT INTO place SELECT 'C' || i % 3, 'r' || i // 3, 'n' || i % 7, 'm' || i % 3"
        " FROM range(12) r(i)",
        "INSERT INTO place SELECT 'Z', NULL, 'somewhere', 'm' || i // 2 FROM range(3) r(i)",
        "INSERT INTO visit SELECT i, 'C' || i % 3, 'r' || i % 12 // 3, i * 1.5,"
        " DATE '2024-01-01' + i::INTEGER % 28 FROM range(40) r(i)",
    )
    with star(tmp_path, statements) as found:
        assert found.failures() == []
        assert found.load() == {}
        assert found.failures() == []


def test_an_orphan_makes_no_row_of_a_lookup_that_is_collapsed(tmp_path: Path) -> None:
    """A student of an unknown department keeps its code, which isn't a department."""
    statements = (
        "CREATE TABLE department AS SELECT 'D' || i AS dept_code, 'Department ' || i AS dept_name"
        " FROM range(8) r(i)",
        "CREATE TABLE course AS SELECT i AS course_id, 'Course ' || i AS course_name,"
        " 'D' || i % 8 AS dept_code FROM range(40) r(i)",
        "CREATE TABLE student AS SELECT 500 + i AS student_id, 'Student ' || i AS student_name,"
        " CASE i WHEN 7 THEN 'EDU' ELSE 'D' || i % 8 END AS dept_code FROM range(60) r(i)",
        "CREATE TABLE enrolment AS SELECT i AS enrolment_id, i % 40 AS course_id,"
        " 500 + i % 60 AS student_id, DATE '2024-01-01' + CAST(i % 90 AS INTEGER) AS enrolled_on"
        " FROM range(900) r(i)",
    )
    with star(tmp_path, statements) as college:
        collapsed = [d for d in college.star.dimensions if d.entity_name == "department"]
        orphans = [
            relationship.evidence.orphans
            for relationship in college.model.conceptual.relationships
            if relationship.from_entity == "student"
        ]
        assert (collapsed, orphans) == ([], [1])
        assert college.failures() == []
