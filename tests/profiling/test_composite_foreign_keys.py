"""Foreign keys of several columns are found whole, paired column by column."""

import pytest

from fluid_build.profiling.measure.schema import MeasuredColumn
from fluid_build.profiling.references.composites import CompositeReference, without_reverse
from fluid_build.profiling.references.features import composite_features
from fluid_build.profiling.references.inclusion import Inclusion
from tests.profiling.databases import (
    database,
    implied,
    profiled,
    reference,
    references,
    tables_of,
)

ORDERS = """
    CREATE TABLE orders AS SELECT 9000 + i * 2 AS order_id, DATE '2024-01-01' + pick(i, 1, 300) AS
        ordered_on FROM range(800) t(i);
    CREATE TABLE order_lines AS SELECT 9000 + (i // 4) * 2 AS order_id, 1 + i % 4 AS line_no,
        1 + pick(i, 2, 60) AS product_id, 1 + pick(i, 3, 9) AS qty FROM range(3200) t(i);
    CREATE TABLE products AS SELECT 1 + i AS product_id, 'p' || i AS name FROM range(60) t(i);
"""
RETURNS = """
    CREATE TABLE returns AS SELECT 1 + i AS return_id, 9000 + (pick(i, 4, 3200) // 4) * 2 AS
        order_id,
        {line} AS line_no, DATE '2024-06-01' + pick(i, 5, 90) AS returned_on FROM range(300) t(i);
"""
LINE = "1 + pick(i, 4, 3200) % 4"
WHOLE = "returns(order_id, line_no) -> order_lines(order_id, line_no)"

ROOMS = """
    CREATE TABLE building AS SELECT 1 + i AS building_id, 'B' || i AS name FROM range(30) t(i);
    CREATE TABLE room AS SELECT 1 + i // 20 AS building_id, 100 + i % 20 AS room_number,
        10 + pick(i, 1, 50) AS seats FROM range(600) t(i);
"""


def test_a_reference_by_the_same_names_is_found() -> None:
    """A return refers to the order's line, and so only through it to the order."""
    profile = profiled(ORDERS + RETURNS.format(line=LINE))
    assert WHOLE in references(profile)
    assert implied(profile) == {"returns(order_id) -> orders(order_id)"}


def test_a_reference_by_prefixed_names_is_found() -> None:
    """Columns that carry the parent's name in front pair with its key's columns."""
    profile = profiled(
        ROOMS + "CREATE TABLE lecture AS SELECT 1 + i AS lecture_id, 'L' || i AS title,"
        " 1 + pick(i, 2, 600) // 20 AS room_building_id, 100 + pick(i, 2, 600) % 20 AS"
        " room_room_number FROM range(900) t(i)"
    )
    assert (
        "lecture(room_building_id, room_room_number) -> room(building_id, room_number)"
        in references(profile)
    )


def test_two_roles_refer_to_one_composite_key() -> None:
    """Two groups of columns may each refer to the same key, and never mix."""
    profile = profiled(
        ROOMS + "CREATE TABLE move AS SELECT 1 + i AS move_id,"
        " 1 + pick(i, 2, 600) // 20 AS from_building_id, 100 + pick(i, 2, 600) % 20 AS"
        " from_room_number, 1 + pick(i, 3, 600) // 20 AS to_building_id,"
        " 100 + pick(i, 3, 600) % 20 AS to_room_number FROM range(900) t(i)"
    )
    whole = {shown for shown in references(profile) if ", " in shown}
    assert whole == {
        "move(from_building_id, from_room_number) -> room(building_id, room_number)",
        "move(to_building_id, to_room_number) -> room(building_id, room_number)",
    }


def test_keys_that_widen_step_by_step_are_found() -> None:
    """If every key contains its parent's, each table refers by the whole key to the next one up."""
    profile = profiled(
        """
        CREATE TABLE region AS SELECT 1 + i AS region_id, 'R' || i AS name FROM range(5) t(i);
        CREATE TABLE branch AS SELECT 1 + i // 8 AS region_id, 1 + i % 8 AS branch_no, 'B' || i AS
            name FROM range(40) t(i);
        CREATE TABLE account AS SELECT 1 + i // 400 AS region_id, 1 + (i // 50) % 8 AS branch_no,
            1 + i % 50 AS account_no, pick(i, 1, 9999) AS balance FROM range(2000) t(i);
        CREATE TABLE movement AS SELECT 1 + i AS movement_id, 1 + pick(i, 2, 2000) // 400 AS
            region_id, 1 + (pick(i, 2, 2000) // 50) % 8 AS branch_no, 1 + pick(i, 2, 2000) % 50 AS
            account_no, pick(i, 3, 500) AS amount FROM range(5000) t(i);
        """
    )
    assert references(profile) == {
        "branch(region_id) -> region(region_id)",
        "account(region_id, branch_no) -> branch(region_id, branch_no)",
        "movement(region_id, branch_no, account_no) -> account(region_id, branch_no, account_no)",
    }


def test_orphans_of_a_whole_key_are_counted_together() -> None:
    """A row whose columns all occur in the parent, but never together, is an orphan."""
    script = ORDERS + RETURNS.format(line=f"if(i % 60 = 0, 5, {LINE})")
    evidence = reference(profiled(script), WHOLE).evidence
    assert (evidence.rows, evidence.matched, evidence.orphans) == (300, 295, 5)
    with database(script) as source:
        listed = source.connection.execute(evidence.sql).fetchall()
        wanted = source.connection.execute("FROM returns WHERE line_no = 5").fetchall()
    assert sorted(listed) == sorted(wanted)


def test_rows_with_a_null_in_part_of_the_key_are_left_out() -> None:
    """A row that lacks part of the key refers to nothing and counts as null."""
    profile = profiled(ORDERS + RETURNS.format(line=f"if(i % 10 = 0, NULL, {LINE})"))
    evidence = reference(profile, WHOLE).evidence
    assert (evidence.rows, evidence.nulls, evidence.orphans) == (270, 30, 0)


@pytest.mark.parametrize("line", ["1 + pick(i, 6, 90)", "50 + i"])
def test_columns_that_do_not_occur_together_do_not_refer(line: str) -> None:
    """The same names without the same values aren't a reference."""
    assert WHOLE not in references(profiled(ORDERS + RETURNS.format(line=line)))


def test_a_part_of_a_composite_key_may_be_referred_to_one_to_one() -> None:
    """The same names and full inclusion are enough, though the ids are dense on both sides."""
    profile = profiled(
        "CREATE TABLE order_line AS SELECT 1 + i // 3 AS order_id, 1 + i % 3 AS pos,"
        " pick(i, 1, 900) / 100 AS price FROM range(3000) t(i);"
        "CREATE TABLE shipment AS SELECT 1 + i AS shipment_id, 1 + i // 3 AS order_id,"
        " 1 + i % 3 AS pos, pick(i, 2, 7) AS boxes FROM range(1501) t(i)"
    )
    assert [(key.from_table, key.from_columns, key.to_table) for key in profile.foreign_keys] == [
        ("shipment", ("order_id", "pos"), "order_line")
    ]


def test_rows_refer_to_a_bridge_whose_pairs_they_repeat() -> None:
    """Nothing names the stock of a warehouse, but every line takes from one of its pairs."""
    profile = profiled(
        """
        CREATE TABLE warehouse AS SELECT 500 + i * 3 AS warehouse_id, 'W' || i AS name
            FROM range(20) t(i);
        CREATE TABLE item AS SELECT 9000 + i * 7 AS item_id, 'I' || i AS name FROM range(300) t(i);
        CREATE TABLE stock AS SELECT 500 + (i % 20) * 3 AS warehouse_id,
            9000 + (i // 20) * 7 * (1 + i % 2) AS item_id, pick(i, 1, 90) AS pieces
            FROM range(1200) t(i);
        CREATE TABLE line AS SELECT 1 + i AS line_id, 500 + (pick(i, 2, 1000) % 20) * 3 AS
            warehouse_id, 9000 + (pick(i, 2, 1000) // 20) * 7 * (1 + pick(i, 2, 1000) % 2) AS
            item_id, pick(i, 3, 9) AS pieces FROM range(4000) t(i);
        """
    )
    assert references(profile) == {
        "stock(warehouse_id) -> warehouse(warehouse_id)",
        "stock(item_id) -> item(item_id)",
        "line(warehouse_id, item_id) -> stock(warehouse_id, item_id)",
    }
    assert implied(profile) == {
        "line(warehouse_id) -> warehouse(warehouse_id)",
        "line(item_id) -> item(item_id)",
    }


def test_rows_refer_to_others_of_their_own_table_within_a_tenant() -> None:
    """A manager is an employee of the same company, so both share the column of the company."""
    profile = profiled(
        """
        CREATE TABLE company AS SELECT 70 + i * 4 AS company_id, 'C' || i AS name
            FROM range(8) t(i);
        CREATE TABLE employee AS SELECT 70 + (i % 8) * 4 AS company_id, 1 + i // 8 AS employee_no,
            CASE WHEN i >= 16 THEN 1 + pick(i, 1, i // 8) END AS manager_no,
            'E' || i AS name FROM range(400) t(i);
        """
    )
    assert references(profile) == {
        "employee(company_id) -> company(company_id)",
        "employee(company_id, manager_no) -> employee(company_id, employee_no)",
    }


def test_roles_share_the_column_that_says_within_what_they_are() -> None:
    """The winner and the loser of a series are teams of the same year."""
    profile = profiled(
        """
        CREATE TABLE team AS SELECT 2000 + i // 20 AS year, 'T' || (10 + i % 20 * (1 + i // 20))
            AS team_id, pick(i, 1, 99) AS wins FROM range(200) t(i);
        CREATE TABLE series AS SELECT 1 + i AS series_id, 2000 + i // 30 AS year,
            'T' || (10 + pick(i, 2, 20) * (1 + i // 30)) AS winner_team_id,
            'T' || (10 + pick(i, 3, 20) * (1 + i // 30)) AS loser_team_id FROM range(300) t(i);
        """
    )
    assert references(profile) == {
        "series(year, winner_team_id) -> team(year, team_id)",
        "series(year, loser_team_id) -> team(year, team_id)",
    }


def test_a_table_whose_name_begins_with_anothers_refers_to_it() -> None:
    """Both tables have the same keys, and only one of their names is made from the other."""
    key = "2000 + i // 20 AS year, 'T' || (10 + i % 20 * (1 + i // 20)) AS team_id"
    profile = profiled(
        f"CREATE TABLE team AS SELECT {key}, pick(i, 1, 99) AS wins FROM range(200) t(i);"
        f"CREATE TABLE team_splits AS SELECT {key}, pick(i, 2, 99) AS home_wins"
        " FROM range(200) t(i);"
        f"CREATE TABLE rating AS SELECT 1 + i AS rating_id, {key} FROM range(90) t(i);"
    )
    assert references(profile) == {
        "team_splits(year, team_id) -> team(year, team_id)",
        "rating(year, team_id) -> team(year, team_id)",
    }


def test_a_role_may_follow_the_name_of_a_key_column() -> None:
    """Where the key's word is in the middle, the role comes after it."""
    profile = profiled(
        """
        CREATE TABLE team AS SELECT 2000 + i // 20 AS year, 'T' || (10 + i % 20 * (1 + i // 20))
            AS team_id, pick(i, 1, 99) AS wins FROM range(200) t(i);
        CREATE TABLE series AS SELECT 1 + i AS series_id, 2000 + i // 30 AS year,
            'T' || (10 + pick(i, 2, 20) * (1 + i // 30)) AS team_id_best FROM range(300) t(i);
        """
    )
    assert "series(year, team_id_best) -> team(year, team_id)" in references(profile)


def test_references_between_two_tables_lead_in_one_direction() -> None:
    """The most credible reference decides, even if a weaker one of its direction comes last."""
    with database(
        "CREATE TABLE a AS SELECT 1 AS x, 2 AS y; CREATE TABLE b AS SELECT 1 AS x, 2 AS y"
    ) as source:
        a, b = (tuple(table.columns) for table in tables_of(source))
        best, reverse, weak = (
            _judged(child, parent, odds)
            for child, parent, odds in ((a, b, 3.0), (b, a, 2.0), (a, b, 1.0))
        )
        assert without_reverse([best, reverse, weak]) == [best, weak]


def _judged(
    child: tuple[MeasuredColumn, ...], parent: tuple[MeasuredColumn, ...], odds: float
) -> CompositeReference:
    inclusion = Inclusion(1, 1, 1, 1, 1, 1)
    features = composite_features(child, parent, 1.0, inclusion, {}, (), ())
    return CompositeReference(child, parent, features, inclusion, odds)


def test_values_tell_the_member_that_has_another_name() -> None:
    """What names don't pair up, values do: staff were assigned on the day that a task began."""
    task = """
        'P' || (100 + n // 8) AS project_no, 10 * (1 + n % 4) AS task_no,
        DATE '2024-01-01' + CAST(3 * (n // 4 % 10) AS INTEGER) AS {start}
    """
    profile = profiled(
        f"""
        CREATE TABLE project_task AS SELECT {task.format(start="begun_on")}, n * 0.5 AS effort
            FROM range(160) t(n);
        CREATE TABLE staff_project_task AS SELECT 'E' || (1000 + 7 * (i % 50)) AS staff_no,
            {task.format(start="assigned_on")}, i * 0.1 AS hours
            FROM (SELECT i, i * 7 % 160 AS n FROM range(700) t(i));
        """
    )
    assert (
        "staff_project_task(project_no, task_no, assigned_on)"
        " -> project_task(project_no, task_no, begun_on)"
    ) in references(profile)


CLIENTS = """
    CREATE TABLE currency AS SELECT 1 + i // 20 AS client, {code} AS currency,
        'C' || i AS name FROM range(60) t(i);
    CREATE TABLE rate AS SELECT 1 + i // 300 AS client, i % 300 AS rate_no,
        {first} AS from_unit, {second} AS to_unit, i * 0.25 AS rate FROM range(900) t(i);
"""


def test_each_member_with_another_name_is_a_role_of_its_own() -> None:
    """A rate leads from one currency of a client to another."""
    code = "chr(65 + CAST({} AS INTEGER)) || 'UX'"
    profile = profiled(
        CLIENTS.format(
            code=code.format("i % 20"),
            first=code.format("pick(i, 1, 20)"),
            second=code.format("pick(i, 2, 20)"),
        )
    )
    assert {shown for shown in references(profile) if ", " in shown} == {
        "rate(client, from_unit) -> currency(client, currency)",
        "rate(client, to_unit) -> currency(client, currency)",
    }


def test_counts_are_no_member_of_a_key() -> None:
    """Small numbers of a client are among its keys, and mean nothing by that."""
    profile = profiled(
        CLIENTS.format(code="1 + i % 20", first="1 + pick(i, 1, 20)", second="1 + pick(i, 2, 9)")
    )
    assert not any(", " in shown for shown in references(profile))


def test_the_own_keys_of_two_tables_are_no_reference() -> None:
    """Each table of a client numbers its rows: that says nothing of another table's."""
    tables = (("region", 20), ("supplier", 60), ("customer", 200))
    profile = profiled(
        "".join(
            f"CREATE TABLE {table} AS SELECT 1 + i // {rows} AS client, 1 + i % {rows} AS id,"
            f" 'n' || i AS name FROM range({3 * rows}) t(i);"
            for table, rows in tables
        )
    )
    assert not references(profile)


def test_codes_that_happen_to_be_digits_compare_as_their_namesakes_do() -> None:
    """All articles on offer may have plain numbers, with zeros in front, where others have none."""
    profile = profiled(
        """
        CREATE TABLE article AS SELECT CASE WHEN i < 900 THEN printf('%05d', i) ELSE 'X' || i END
            AS article_no, 'a' || i AS name FROM range(1000) t(i);
        CREATE TABLE offer AS SELECT printf('%05d', 3 * i) AS article_no, 0.5 * i AS price
            FROM range(300) t(i);
        """
    )
    assert "offer(article_no) -> article(article_no)" in references(profile)
