"""Keys and references are chosen together, and references that follow from others are marked."""

from tests.profiling.databases import implied, profiled, references


def test_a_bridge_is_identified_by_its_references() -> None:
    """The key of a table of pairs is the pair, and each column refers."""
    profile = profiled(
        """
        CREATE TABLE player AS SELECT 1 + i AS player_id, 'a' || i AS name FROM range(90) t(i);
        CREATE TABLE club AS SELECT 1 + i AS club_id, 'f' || i AS title FROM range(200) t(i);
        CREATE TABLE club_player AS SELECT DISTINCT 1 + pick(i, 1, 200) AS club_id,
            1 + pick(i, 2, 90) AS player_id FROM range(1500) t(i);
        """
    )
    assert profile.table("club_player").primary_key == ("club_id", "player_id")
    assert references(profile) == {
        "club_player(club_id) -> club(club_id)",
        "club_player(player_id) -> player(player_id)",
    }


def test_a_line_refers_to_its_header() -> None:
    """The header's key is part of the line's key and refers to the header."""
    profile = profiled(
        """
        CREATE TABLE receipt AS SELECT 1 + i AS receipt_id, DATE '2024-01-01' + pick(i, 1, 300) AS
            day FROM range(400) t(i);
        CREATE TABLE receipt_line AS SELECT 1 + i // 4 AS receipt_id, 1 + i % 4 AS line_no,
            1 + pick(i, 2, 9) AS qty FROM range(1600) t(i);
        """
    )
    assert profile.table("receipt_line").primary_key == ("receipt_id", "line_no")
    assert references(profile) == {"receipt_line(receipt_id) -> receipt(receipt_id)"}


def test_a_copied_attribute_is_implied() -> None:
    """A code copied next to its row's key follows from the key."""
    profile = profiled(
        """
        CREATE TABLE product AS SELECT 1 + i AS product_id, 'SKU-' || (i * 37) AS sku, 'n' || i AS
            name FROM range(200) t(i);
        CREATE TABLE sale AS SELECT 1 + i AS sale_id, 1 + pick(i, 1, 200) AS product_id,
            'SKU-' || (pick(i, 1, 200) * 37) AS sku FROM range(900) t(i);
        """
    )
    assert references(profile) == {"sale(product_id) -> product(product_id)"}
    assert implied(profile) == {"sale(sku) -> product(sku)"}


def test_a_backup_does_not_attract_references() -> None:
    """If a table has a copy, the table that the column is named after stays the parent."""
    profile = profiled(
        """
        CREATE TABLE customer AS SELECT 1 + i AS customer_id, 'c' || i AS name FROM range(500) t(i);
        CREATE TABLE customer_backup AS SELECT 1 + i AS customer_id, 'c' || i AS name
            FROM range(480) t(i);
        CREATE TABLE sales AS SELECT 1 + i AS sales_id, 1 + pick(i, 1, 500) AS customer_id
            FROM range(4000) t(i);
        """
    )
    assert "sales(customer_id) -> customer(customer_id)" in references(profile)


def test_dates_of_several_roles_refer_to_a_calendar() -> None:
    """A fact's dates refer to the calendar by its number, each in its role."""
    profile = profiled(
        """
        CREATE TABLE dim_date AS SELECT 20200101 + i AS date_key, DATE '2020-01-01' + i::INTEGER AS
            full_date FROM range(30) t(i);
        CREATE TABLE dim_product AS SELECT 1 + i AS product_key, 'p' || i AS product_name
            FROM range(90) t(i);
        CREATE TABLE fact_sales AS SELECT 20200101 + pick(i, 1, 30) AS order_date_key,
            20200101 + pick(i, 2, 30) AS ship_date_key, 1 + pick(i, 3, 90) AS product_key,
            pick(i, 4, 999) AS amount FROM range(2000) t(i);
        """
    )
    assert references(profile) == {
        "fact_sales(order_date_key) -> dim_date(date_key)",
        "fact_sales(ship_date_key) -> dim_date(date_key)",
        "fact_sales(product_key) -> dim_product(product_key)",
    }


def test_a_tenant_column_belongs_to_keys_though_there_is_one_tenant() -> None:
    """Tables that all begin with the same client refer to each other within that client."""
    profile = profiled(
        """
        CREATE TABLE client AS SELECT 100 AS client_id, 'North' AS name;
        CREATE TABLE currency AS SELECT 100 AS client_id, 'C' || chr(65 + i::INTEGER) AS
            currency_code FROM range(20) t(i);
        CREATE TABLE site AS SELECT 100 AS client_id, 'S' || (300 + i * 7) AS site_code
            FROM range(50) t(i);
        CREATE TABLE item AS SELECT 100 AS client_id, 'I' || (100 + i) AS item_code,
            'C' || chr(65 + pick(i, 1, 20)::INTEGER) AS currency_code FROM range(400) t(i);
        CREATE TABLE visit AS SELECT 100 AS client_id, 5000 + i AS visit_number,
            'S' || (300 + pick(i, 2, 50) * 7) AS site_code FROM range(900) t(i);
        CREATE TABLE stock AS SELECT 100 AS client_id, 'S' || (300 + i // 20 * 7) AS site_code,
            'I' || (100 + (i * 17) % 400) AS item_code, pick(i, 3, 70) AS pieces
            FROM range(1000) t(i);
        """
    )
    assert {shown for shown in references(profile) if ", " in shown} == {
        "item(client_id, currency_code) -> currency(client_id, currency_code)",
        "visit(client_id, site_code) -> site(client_id, site_code)",
        "stock(client_id, site_code) -> site(client_id, site_code)",
        "stock(client_id, item_code) -> item(client_id, item_code)",
    }


def test_the_column_that_starts_most_tables_is_their_key_whatever_is_referred_to() -> None:
    """A system that numbers the rows of every table does so in those that have another key too."""
    details = " ".join(
        f"CREATE TABLE {name} AS SELECT 1 + i AS row_id, 500 + i % 40 AS stay_id,"
        f" {index} + i * 7 % 90 AS level FROM range(90) t(i);"
        for index, name in enumerate(["fluids", "labs", "notes", "orders", "scores"])
    )
    stays = "CREATE TABLE stays AS SELECT 1 + i AS row_id, 500 + i AS stay_id FROM range(40) t(i);"
    profile = profiled(stays + details)
    assert profile.table("stays").primary_key == ("row_id",)
    assert "labs(stay_id) -> stays(stay_id)" in references(profile)


def test_a_key_is_widened_to_the_references_that_others_repeat_with_it() -> None:
    """Towns have unique names in a region, and others say the country with them, too."""
    profile = profiled(
        """
        CREATE TABLE country AS SELECT 'K' || chr(65 + i::INTEGER) AS code, 'Land ' || i AS name
            FROM range(5) t(i);
        CREATE TABLE town AS SELECT 'Town ' || (i % 90) AS name, 'K' || chr(65 + i::INTEGER // 120)
            AS country, 'Region ' || (i // 60) AS region, pick(i, 1, 99) AS population
            FROM range(600) t(i);
        CREATE TABLE port AS SELECT 1 + i AS port_id, name AS town, country, region
            FROM (SELECT *, row_number() OVER (ORDER BY region, name) AS i FROM town)
            WHERE i % 3 = 0;
        CREATE TABLE bridge AS SELECT 1 + i AS bridge_id, name AS town, country, region
            FROM (SELECT *, row_number() OVER (ORDER BY region, name) AS i FROM town)
            WHERE i % 4 = 0;
        """
    )
    assert {shown for shown in references(profile) if ", " in shown} == {
        "port(town, country, region) -> town(name, country, region)",
        "bridge(town, country, region) -> town(name, country, region)",
    }


def test_a_number_in_few_rows_is_a_key_with_the_columns_that_another_table_says_with_it() -> None:
    """While few rooms are let, their numbers differ, but guests are told the floor, too."""
    room = "1 + {n} // 4 AS floor, 7 * ({n} * 11 % 53) AS room_no"
    profile = profiled(
        f"""
        CREATE TABLE room AS SELECT {room.format(n="i")}, 40 + i AS price FROM range(30) t(i);
        CREATE TABLE stay AS SELECT 1 + i AS stay_id, {room.format(n="pick(i, 1, 30)")},
            'g' || i AS guest FROM range(200) t(i);
        """
    )
    assert profile.table("room").primary_key == ("floor", "room_no")
    assert "stay(floor, room_no) -> room(floor, room_no)" in references(profile)


def test_a_name_after_the_columns_that_are_unique_is_no_key() -> None:
    """Nothing refers to the names of a client's units: units are known by what comes before."""
    profile = profiled(
        """CREATE TABLE unit AS SELECT 1 + i // 20 AS client, 'U' || i % 20 AS sign,
            'name ' || i AS name, i % 7 AS digits FROM range(60) t(i);"""
    )
    assert profile.table("unit").primary_key == ("client", "sign")


def test_a_code_in_few_rows_is_numbered_within_the_reference_before_it() -> None:
    """Few connections have different numbers by chance; flights say the airline with each."""
    profile = profiled(
        """
        CREATE TABLE airline AS SELECT 'A' || chr(65 + i::INTEGER) AS airline_id, 'Air ' || i AS
            name
            FROM range(6) t(i);
        CREATE TABLE connection AS SELECT 'A' || chr(65 + i::INTEGER % 6) AS airline_id,
            400 + i * 17 AS connection_id, 100 + pick(i, 1, 900) AS distance FROM range(14) t(i);
        CREATE TABLE flight AS SELECT 1 + i AS flight_id, 'A' || chr(65 + (i % 14)::INTEGER % 6) AS
            airline_id, 400 + i % 14 * 17 AS connection_id FROM range(300) t(i);
        CREATE TABLE delay AS SELECT 1 + i AS delay_id, 'A' || chr(65 + (i % 14)::INTEGER % 6) AS
            airline_id, 400 + i % 14 * 17 AS connection_id FROM range(90) t(i);
        """
    )
    assert {shown for shown in references(profile) if ", " in shown} == {
        "flight(airline_id, connection_id) -> connection(airline_id, connection_id)",
        "delay(airline_id, connection_id) -> connection(airline_id, connection_id)",
    }
