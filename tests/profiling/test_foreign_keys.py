"""Foreign keys are found where they are meant, and nowhere else."""

from dataclasses import replace

import pytest

from fluid_build.profiling import profile_source
from fluid_build.profiling.measure.schema import MeasuredColumn
from fluid_build.profiling.references.probing import Prober
from fluid_build.profiling.weights import DEFAULT_WEIGHTS
from fluid_build.sources import open_source
from tests.postgres import PostgresDatabase
from tests.profiling.databases import database, profiled, reference, references
from tests.profiling.domains import DOMAINS, LOGISTICS
from tests.profiling.spelling import STYLES, respelled

CUSTOMERS = (
    "CREATE TABLE customer AS SELECT {key} AS customer_id, 'c' || i AS name FROM range({n}) t(i);"
)


@pytest.mark.parametrize("name", DOMAINS)
def test_all_references_of_a_domain_are_found_and_no_others(name: str) -> None:
    """In databases of everyday domains, exactly the intended references are found."""
    assert references(profiled(DOMAINS[name].script)) == DOMAINS[name].meant


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", ["clinic", "library", "logistics"])
def test_the_style_of_names_makes_no_difference(name: str, style: str) -> None:
    """Camel, Pascal, snake, upper case, glued and abbreviated names give the same references."""
    domain = respelled(DOMAINS[name], style)
    assert references(profiled(domain.script)) == domain.meant


def test_a_shared_prefix_of_columns_does_not_hide_a_reference() -> None:
    """A prefix that all columns of a table share is ignored."""
    profile = profiled(
        """
        CREATE TABLE dealer AS SELECT 1 + i AS d_dealkey, 'd' || i AS d_name, 1 + pick(i, 1, 9) AS
            d_areakey FROM range(400) t(i);
        CREATE TABLE area AS SELECT 1 + i AS a_areakey, 'a' || i AS a_name, 'r' || i AS a_comment
            FROM range(9) t(i);
        CREATE TABLE contract AS SELECT 1 + i AS c_contkey, 1 + pick(i, 2, 400) AS c_dealkey,
            pick(i, 3, 999) AS c_total FROM range(3000) t(i);
        """
    )
    assert references(profile) == {
        "dealer(d_areakey) -> area(a_areakey)",
        "contract(c_dealkey) -> dealer(d_dealkey)",
    }


@pytest.mark.parametrize(
    ("table", "key", "child"),
    [
        ("employees", "employee_id", "manager_id"),
        ("staff", "id", "reports_to"),
        ("categories", "id", "parent_id"),
        ("comments", "comment_id", "parent_comment_id"),
        ("Account", "AccountKey", "ParentAccountKey"),
    ],
)
def test_a_hierarchy_refers_to_its_own_table(table: str, key: str, child: str) -> None:
    """A parent or a manager is another row of the same table."""
    profile = profiled(
        f"CREATE TABLE {table} AS SELECT 1 + i AS {key}, 'n' || i AS label,"
        f" if(i < 5, NULL, 1 + pick(i, 1, 40)) AS {child}, 20 + pick(i, 2, 40) AS age"
        " FROM range(300) t(i)"
    )
    assert references(profile) == {f"{table}({child}) -> {table}({key})"}


def test_two_roles_refer_to_one_parent() -> None:
    """Each role has a reference of its own, with the role's name."""
    profile = profiled(LOGISTICS.script)
    roles = {
        key.from_columns[0]: key.role
        for key in profile.foreign_keys
        if (key.from_table, key.to_table) == ("shipment", "address")
    }
    assert roles == {"ship_to_address_id": "ship_to", "bill_to_address_id": "bill_to"}


def test_home_and_away_refer_to_one_parent() -> None:
    """Roles are distinguished from measures with the same words."""
    profile = profiled(
        """
        CREATE TABLE team AS SELECT 1 + i AS team_id, 't' || i AS name FROM range(20) t(i);
        CREATE TABLE game AS SELECT 1 + i AS game_id, 1 + pick(i, 1, 20) AS home_team_id,
            1 + pick(i, 2, 20) AS away_team_id, 1 + pick(i, 3, 6) AS home_goals,
            1 + pick(i, 4, 6) AS away_goals FROM range(380) t(i);
        """
    )
    assert references(profile) == {
        "game(home_team_id) -> team(team_id)",
        "game(away_team_id) -> team(team_id)",
    }


def test_a_subtype_refers_to_its_supertype_one_to_one() -> None:
    """A table whose keys are some of another's refers to it, not the other way round."""
    profile = profiled(
        """
        CREATE TABLE person AS SELECT 1 + i AS person_id, 'P' || i AS name FROM range(500) t(i);
        CREATE TABLE pilot AS SELECT 1 + i * 3 AS person_id, 'L' || i AS licence
            FROM range(150) t(i);
        CREATE TABLE steward AS SELECT 2 + i * 3 AS person_id, pick(i, 1, 3) AS level
            FROM range(150) t(i);
        """
    )
    assert references(profile) == {
        "pilot(person_id) -> person(person_id)",
        "steward(person_id) -> person(person_id)",
    }
    assert {key.cardinality for key in profile.foreign_keys} == {"one-to-one"}


def test_the_nearest_supertype_wins() -> None:
    """Along a chain of subtypes, each refers to the next one, not to the far end."""
    profile = profiled(
        """
        CREATE TABLE vehicle AS SELECT 1 + i AS vehicle_id, 'V' || i AS plate FROM range(900) t(i);
        CREATE TABLE truck AS SELECT 1 + i * 2 AS vehicle_id, pick(i, 1, 40) AS axles
            FROM range(400) t(i);
        CREATE TABLE tanker AS SELECT 1 + i * 6 AS vehicle_id, 100 * pick(i, 2, 50) AS litres
            FROM range(120) t(i);
        """
    )
    assert references(profile) == {
        "truck(vehicle_id) -> vehicle(vehicle_id)",
        "tanker(vehicle_id) -> truck(vehicle_id)",
    }


def test_a_detail_refers_to_its_owner_one_to_one() -> None:
    """Of two tables with the same keys, the one named after the other refers to it."""
    profile = profiled(
        """
        CREATE TABLE users AS SELECT 1 + i AS id, 'u' || i AS login FROM range(300) t(i);
        CREATE TABLE user_profiles AS SELECT 1 + i AS id, 1 + i AS user_id, 'bio ' || i AS bio
            FROM range(300) t(i);
        """
    )
    assert references(profile) == {"user_profiles(user_id) -> users(id)"}


DIRTY = {
    "strays": ("1000 + i * 3", "if(i % 20 = 0, 900000 + i, 1000 + pick(i, 1, 400) * 3)"),
    "half of them strays": (
        "1000 + i * 3",
        "if(i % 2 = 0, 900000 + i, 1000 + pick(i, 1, 400) * 3)",
    ),
    "minus one for none": ("1 + i", "if(i % 10 = 0, -1, 1 + pick(i, 1, 400))"),
    "deleted parents": ("1 + i", "1 + pick(i, 1, 420)"),
    "text for none": ("'K' || (i * 17)", "if(i % 25 = 0, 'n/a', 'K' || (pick(i, 1, 400) * 17))"),
}


@pytest.mark.parametrize("dirt", DIRTY)
def test_dirt_does_not_hide_a_reference_and_is_counted(dirt: str) -> None:
    """A reference that some rows violate is found; its query returns exactly the orphans."""
    key, child = DIRTY[dirt]
    script = CUSTOMERS.format(key=key, n=400) + (
        f"CREATE TABLE invoice AS SELECT 1 + i AS invoice_id, if(i % 33 = 0, NULL, {child})"
        " AS customer_id, pick(i, 2, 1000) AS total FROM range(3000) t(i)"
    )
    profile = reference(profiled(script), "invoice(customer_id) -> customer(customer_id)")
    with database(script) as source:
        listed = source.connection.execute(profile.evidence.sql).fetchall()
        wanted = source.connection.execute(
            "SELECT * FROM invoice WHERE customer_id IS NOT NULL"
            " AND customer_id NOT IN (SELECT customer_id FROM customer)"
        ).fetchall()
    assert sorted(listed) == sorted(wanted)
    assert 0 < profile.evidence.orphans == len(wanted) == profile.evidence.violations


def test_the_figures_of_a_reference_add_up() -> None:
    """Matched rows and orphans make up the rows, and with the nulls the table."""
    for domain in DOMAINS.values():
        profile = profiled(domain.script)
        for key in profile.foreign_keys:
            evidence = key.evidence
            assert evidence.matched + evidence.orphans == evidence.rows
            assert evidence.rows + evidence.nulls == profile.table(key.from_table).rows
            assert evidence.coverage is not None
            assert 0.0 < evidence.coverage <= 1.0
            assert 0.5 < key.confidence <= 1.0


def test_dense_numbers_prove_nothing() -> None:
    """Counts, ratings and parts of dates are among small keys and refer to none."""
    profile = profiled(
        """
        CREATE TABLE gadget AS SELECT 1 + i AS gadget_id, 'g' || i AS name FROM range(50) t(i);
        CREATE TABLE seller AS SELECT 1 + i AS seller_id, 's' || i AS name FROM range(12) t(i);
        CREATE TABLE offer AS SELECT 1 + i AS offer_id, 1 + pick(i, 1, 50) AS gadget_id,
            1 + pick(i, 2, 50) AS quantity, 1 + pick(i, 3, 50) AS discount, 1 + pick(i, 4, 5) AS
            rating, 1 + pick(i, 5, 12) AS month, 1 + pick(i, 6, 28) AS day_of_month,
            1 + pick(i, 7, 12) AS position FROM range(3000) t(i);
        """
    )
    assert references(profile) == {"offer(gadget_id) -> gadget(gadget_id)"}


def test_a_status_refers_and_a_priority_does_not() -> None:
    """A status refers to its lookup table; a priority with the same numbers doesn't."""
    profile = profiled(
        """
        CREATE TABLE ticket_status AS SELECT 1 + i AS status_id, 'state ' || i AS label
            FROM range(4) t(i);
        CREATE TABLE tickets AS SELECT 1 + i AS ticket_id, 1 + pick(i, 1, 4) AS status_id,
            1 + pick(i, 2, 4) AS priority FROM range(900) t(i);
        """
    )
    assert references(profile) == {"tickets(status_id) -> ticket_status(status_id)"}


def test_measures_never_refer() -> None:
    """Prices and amounts match another table's by accident only."""
    profile = profiled(
        """
        CREATE TABLE price_band AS SELECT 1 + i AS price_band_id, (i * 1.25)::DOUBLE AS price,
            (i * 1.25)::DECIMAL(9, 2) AS amount FROM range(40) t(i);
        CREATE TABLE sale AS SELECT 1 + i AS sale_id, (pick(i, 1, 40) * 1.25)::DOUBLE AS price,
            (pick(i, 2, 40) * 1.25)::DECIMAL(9, 2) AS amount FROM range(500) t(i);
        """
    )
    assert references(profile) == set()


def test_free_text_never_refers() -> None:
    """Sentences that repeat between tables aren't keys."""
    text = "'A long remark that somebody wrote about the matter at hand, and it is number ' || {}"
    profile = profiled(
        f"""
        CREATE TABLE note AS SELECT 1 + i AS note_id, {text.format("pick(i, 1, 40)")} AS body
            FROM range(500) t(i);
        CREATE TABLE template AS SELECT 1 + i AS template_id, {text.format("i")} AS body
            FROM range(40) t(i);
        """
    )
    assert references(profile) == set()


def test_booleans_never_refer() -> None:
    """True and false occur in any two columns."""
    profile = profiled(
        """
        CREATE TABLE flags AS SELECT i = 0 AS flag, 'f' || i AS name FROM range(2) t(i);
        CREATE TABLE item AS SELECT 1 + i AS item_id, pick(i, 1, 2) = 0 AS flag FROM range(90) t(i);
        """
    )
    assert references(profile) == set()


@pytest.mark.parametrize(
    "child",
    [
        "CAST(1 + pick(i, 1, 400) AS VARCHAR)",
        "if(i % 5 = 0, NULL, CAST(1 + pick(i, 1, 400) AS DOUBLE))",
        "CAST(1 + pick(i, 1, 400) AS DECIMAL(12, 0))",
        "CAST(1 + pick(i, 1, 400) AS HUGEINT)",
    ],
    ids=["text", "float", "decimal", "hugeint"],
)
def test_whole_numbers_refer_whatever_their_type(child: str) -> None:
    """Digits in text, whole floats and wide integers match the integer key that they mean."""
    profile = profiled(
        CUSTOMERS.format(key="1 + i", n=400)
        + f"CREATE TABLE visit AS SELECT 1 + i AS visit_id, {child} AS customer_id"
        " FROM range(3000) t(i)"
    )
    assert references(profile) == {"visit(customer_id) -> customer(customer_id)"}


def test_uuids_in_text_refer_to_uuids() -> None:
    """A UUID written as text matches the same UUID."""
    profile = profiled(
        """
        CREATE TABLE account AS SELECT md5(i::VARCHAR)::UUID AS account_id, 'a' || i AS name
            FROM range(200) t(i);
        CREATE TABLE session AS SELECT 1 + i AS session_id,
            upper(md5(pick(i, 1, 200)::VARCHAR)::UUID::VARCHAR) AS account_id FROM range(1000) t(i);
        """
    )
    assert references(profile) == {"session(account_id) -> account(account_id)"}


def test_codes_with_leading_zeros_refer_as_text() -> None:
    """A code that begins with zeros is text and matches as such."""
    profile = profiled(
        """
        CREATE TABLE area AS SELECT lpad((i * 13)::VARCHAR, 5, '0') AS area_code, 'z' || i AS town
            FROM range(500) t(i);
        CREATE TABLE house AS SELECT 1 + i AS house_id,
            lpad((pick(i, 1, 500) * 13)::VARCHAR, 5, '0') AS area_code FROM range(900) t(i);
        """
    )
    assert references(profile) == {"house(area_code) -> area(area_code)"}


def test_strong_values_need_no_names() -> None:
    """Hundreds of matching random codes are no accident, whatever the columns are called."""
    profile = profiled(
        """
        CREATE TABLE t1 AS SELECT substr(md5(i::VARCHAR), 1, 8) AS f0, i AS f1 FROM range(500) t(i);
        CREATE TABLE t2 AS SELECT i AS f0, substr(md5(pick(i, 1, 500)::VARCHAR), 1, 8) AS f1
            FROM range(2000) t(i);
        """
    )
    assert references(profile) == {"t2(f1) -> t1(f0)"}


def test_names_decide_between_two_equal_parents() -> None:
    """If two tables have the same keys, each column refers to the one it is named after."""
    profile = profiled(
        """
        CREATE TABLE garage AS SELECT 1 + i AS id, 's' || i AS name FROM range(100) t(i);
        CREATE TABLE supplier AS SELECT 1 + i AS id, 'v' || i AS name FROM range(100) t(i);
        CREATE TABLE delivery AS SELECT 1 + i AS id, 1 + pick(i, 1, 100) AS garage_id,
            1 + pick(i, 2, 100) AS supplier_id FROM range(100) t(i);
        """
    )
    assert references(profile) == {
        "delivery(garage_id) -> garage(id)",
        "delivery(supplier_id) -> supplier(id)",
    }


def test_facts_do_not_refer_to_each_other() -> None:
    """Two tables that share a column whose own table is missing don't refer to each other."""
    profile = profiled(
        """
        CREATE TABLE sales AS SELECT 1 + i AS sales_id, 1 + pick(i, 1, 500) AS customer_id,
            pick(i, 2, 90) AS amount FROM range(4000) t(i);
        CREATE TABLE visits AS SELECT 1 + i AS visit_id, 1 + pick(i, 3, 500) AS customer_id,
            pick(i, 4, 90) AS pages FROM range(3000) t(i);
        """
    )
    assert references(profile) == set()


@pytest.mark.parametrize("name", DOMAINS)
def test_a_column_has_one_parent_and_nothing_refers_both_ways(name: str) -> None:
    """No column has two parents, and no two columns refer to each other."""
    keys = [k for k in profiled(DOMAINS[name].script).foreign_keys if len(k.from_columns) == 1]
    children = [(k.from_table, k.from_columns) for k in keys]
    assert len(children) == len(set(children))
    forward = {(k.from_table, k.from_columns, k.to_table, k.to_columns) for k in keys}
    assert not any((c, d, a, b) in forward for a, b, c, d in forward)


@pytest.mark.parametrize("empty", ["customer", "visit"])
def test_empty_tables_refer_to_nothing(empty: str) -> None:
    """Without rows on either side, nothing is claimed."""
    script = (
        CUSTOMERS.format(key="1 + i", n=50)
        + "CREATE TABLE visit AS SELECT 1 + i AS visit_id, 1 + pick(i, 1, 50) AS customer_id"
        f" FROM range(300) t(i); DELETE FROM {empty}"
    )
    assert profiled(script).foreign_keys == ()


def test_a_column_of_nulls_refers_to_nothing() -> None:
    """A column without values is no evidence, even if it is named after a parent."""
    script = CUSTOMERS.format(key="1 + i", n=50) + (
        "CREATE TABLE visit AS SELECT 1 + i AS visit_id, NULL::INTEGER AS customer_id"
        " FROM range(300) t(i)"
    )
    assert profiled(script).foreign_keys == ()


def test_reserved_words_and_spaces_in_names_do_no_harm() -> None:
    """Tables and columns called order, group and select have references with orphans."""
    script = """
        CREATE TABLE "order" AS SELECT 1 + i AS "id", 'x' || i AS "select" FROM range(300) t(i);
        CREATE TABLE "Order Details" AS SELECT 1 + i // 2 AS "order", 1 + i % 2 AS "line no",
            1 + pick(i, 1, 20) AS "group" FROM range(600) t(i);
        CREATE TABLE "group" AS SELECT 1 + i AS id, 'g' || i AS name FROM range(20) t(i);
        """
    profile = profiled(script)
    assert references(profile) == {
        "Order Details(order) -> order(id)",
        "Order Details(group) -> group(id)",
    }
    with database(script) as source:
        for key in profile.foreign_keys:
            assert source.connection.execute(key.evidence.sql).fetchall() == []


NUMBER, UUID = "7000 + 13 * {0}", "CAST(md5(CAST({0} AS VARCHAR)) AS UUID)"
MIXED = {
    "text and number": ("CAST({0} AS VARCHAR)", "{0}", NUMBER),
    "number and text": ("{0}", "CAST({0} AS VARCHAR)", NUMBER),
    "text and text": ("' ' || ({0})", "CAST({0} AS VARCHAR)", NUMBER),
    "text and uuid": ("CAST({0} AS VARCHAR)", "{0}", UUID),
    "uuid and text": ("{0}", "upper(CAST({0} AS VARCHAR))", UUID),
}


def mixed(types: str) -> str:
    """Return a database of 60 shops and 300 sales, three without a shop, with keys of two types."""
    child, parent, value = MIXED[types]
    shop = "if(i % 100 = 0, 900 + i, i * 37 % 60)"
    return (
        f"CREATE TABLE sale AS SELECT i + 1 AS sale_id, {child.format(value.format(shop))}"
        f" AS shop_id FROM generate_series(0, 299) AS t(i);"
        f"CREATE TABLE shop AS SELECT {parent.format(value.format('i'))} AS shop_id,"
        " 'n' || i AS name FROM generate_series(0, 59) AS t(i);"
    )


@pytest.mark.parametrize("types", MIXED)
def test_the_query_for_orphans_compares_like_the_measurement(types: str) -> None:
    """If two columns differ in type, the query in the evidence finds the same orphans."""
    script = mixed(types)
    profile = reference(profiled(script), "sale(shop_id) -> shop(shop_id)").evidence
    assert (profile.orphans, profile.matched) == (3, 297)
    with database(script) as source:
        listed = source.connection.execute(profile.sql).fetchall()
    assert sorted(row[0] for row in listed) == [1, 101, 201]


@pytest.mark.parametrize("types", MIXED)
def test_postgres_reads_the_query_for_orphans(types: str, postgres: PostgresDatabase) -> None:
    """PostgreSQL, which compares no text with a number, runs the query as it is."""
    case = "CASE WHEN i % 100 = 0 THEN 900 + i ELSE i * 37 % 60 END"
    postgres.run(mixed(types).replace("if(i % 100 = 0, 900 + i, i * 37 % 60)", f"({case})"))
    with open_source(postgres.uri) as source:
        profile = reference(profile_source(source), "sale(shop_id) -> shop(shop_id)").evidence
    listed = postgres.run(f"SELECT count(*) FROM ({profile.sql}) AS orphans")
    assert (profile.orphans, listed) == (3, "3")


def test_orphans_in_a_large_table_are_counted_exactly() -> None:
    """Every row of a large table is compared, not a sample."""
    script = (
        "CREATE TABLE product AS SELECT 'P-' || (1000 + i * 7) AS product_code, 'n' || i AS name"
        " FROM range(250) t(i); CREATE TABLE line AS SELECT 1 + i AS line_id,"
        " if(i = 43210, 'gone', 'P-' || (1000 + pick(i, 1, 250) * 7)) AS product_code"
        " FROM range(70000) t(i)"
    )
    profile = reference(profiled(script), "line(product_code) -> product(product_code)").evidence
    assert (profile.rows, profile.matched, profile.orphans, profile.exact) == (
        70000,
        69999,
        1,
        True,
    )
    with database(script) as source:
        assert source.connection.execute(profile.sql).fetchall() == [(43211, "gone")]


def test_amounts_do_not_refer_to_each_other() -> None:
    """Two tables with the same salaries aren't related by them."""
    profile = profiled(
        "CREATE TABLE employees AS SELECT 'E' || (100 + i) AS emp_no, 30000 + i * 137 AS salary"
        " FROM range(40) AS t(i);"
        "CREATE TABLE reviews AS SELECT i + 1 AS review, 'E' || (100 + i % 40) AS emp_no,"
        " 30000 + (i % 40) * 137 AS salary FROM range(60) AS t(i)"
    )
    assert [(key.from_columns, key.to_columns) for key in profile.foreign_keys] == [
        (("emp_no",), ("emp_no",))
    ]


def test_other_weights_judge_differently() -> None:
    """With a confidence that nothing reaches, no reference is reported."""
    unreachable = replace(
        DEFAULT_WEIGHTS, reference=replace(DEFAULT_WEIGHTS.reference, accepted=1.1)
    )
    with database(LOGISTICS.script) as source:
        assert references(profile_source(source))
        assert not references(profile_source(source, weights=unreachable))


@pytest.mark.parametrize("copies", [40, 80])
def test_copies_of_a_table_are_not_compared_each_with_each(
    copies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column is compared with a few keys of each kind, however many tables hold the same."""
    shares = 0
    share = Prober.share

    def counted(prober: Prober, child: MeasuredColumn, parent: MeasuredColumn) -> float:
        nonlocal shares
        shares += 1
        return share(prober, child, parent)

    monkeypatch.setattr(Prober, "share", counted)
    script = "".join(
        f"CREATE TABLE f{chr(97 + i // 26)}{chr(97 + i % 26)} AS"
        " SELECT i AS id, i AS a, 'x' AS b FROM range(60) t(i);"
        for i in range(copies)
    )
    with database(script) as source:
        profile_source(source)
    assert shares <= copies * 3 * 10


@pytest.mark.parametrize("code", ["country_code", "currency_code"])
def test_a_code_of_a_worldwide_list_is_no_reference_to_what_happens_to_have_it(code: str) -> None:
    """An address in a country isn't the company's, though each company is in another country."""
    values = "('CH'), ('DE'), ('GB'), ('FR')"
    profile = profiled(
        f"""
        CREATE TABLE company AS SELECT 'C' || (1000 + row_number() OVER ()) AS company_code,
            'Company ' || c AS legal_name, c AS {code} FROM (VALUES {values}) v(c);
        CREATE TABLE address AS SELECT 1 + i AS address_id, 'Street ' || i % 40 AS street,
            (['CH', 'DE', 'GB', 'FR'])[1 + pick(i, 1, 4)] AS {code} FROM range(400) t(i);
        """
    )
    assert references(profile) == set()
