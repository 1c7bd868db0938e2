"""Roles of entities next to each other: who is an event, who is a part, and who stands alone."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.forging import forge
from fluid_build.modeling.dimensional.judging.entity_roles import EntityRole, judged_roles
from fluid_build.modeling.dimensional.judging.reference_graph import reference_graph
from fluid_build.profiling.profile import Profile
from fluid_build.sources import open_source
from tests.modeling.profiles import reference
from tests.modeling.sources import changed, conceptual, source

SALES = """
    category *id, name text
    product  *id, name text, cat > category
    customer *id, name text
    orders   *id, customer > customer, ordered date, freight decimal
    line     *orders > orders, *no/4, product > product, quantity/9 1-50
"""


def roles(measured: Profile) -> dict[str, EntityRole]:
    return dict(judged_roles(reference_graph(measured, conceptual(measured))))


def kinds(schema: str) -> dict[str, str]:
    return {name: role.kind for name, role in roles(source(schema)).items()}


def test_a_header_is_an_event_and_what_it_refers_to_is_not() -> None:
    """Lines refer to the order as they do to the product, but the order is dated and has few."""
    assert kinds(SALES) == {
        "category": "dimension",
        "product": "dimension",
        "customer": "dimension",
        "orders": "fact",
        "line": "fact",
    }


def test_a_header_may_refer_to_something_that_most_of_its_rows_lack() -> None:
    """An order is an event even if few orders come with a voucher."""
    schema = SALES.replace("freight decimal", "freight decimal, voucher text? > voucher")
    assert kinds(f"voucher *code text, worth text\n{schema}")["orders"] == "fact"


def test_names_of_tables_dont_decide() -> None:
    renamed = SALES
    for name, plain in {"category": "t1", "product": "t2", "customer": "t3", "line": "t5"}.items():
        renamed = renamed.replace(name, plain)
    assert list(kinds(renamed).values()) == list(kinds(SALES).values())


def test_what_thousands_of_rows_refer_to_is_no_header() -> None:
    """A promotion is dated too, but it's used over and over."""
    measured = source("""
        item      *id, name text
        promotion *id, item > item, begins date
        sale      promotion > promotion, amount decimal
    """)
    measured = changed(changed(measured, "promotion", rows=3), "sale", rows=30_000)
    assert roles(measured)["promotion"].kind == "dimension"


@pytest.mark.parametrize("measure", ["price decimal", "on_hand/50 1-900"])
def test_a_relating_table_that_measures_is_a_fact(measure: str) -> None:
    """What a store asks for a product, and how much is in stock, is measured."""
    schema = f"""
        product *id, name text
        store   *id, name text
        stock   *product > product, *store > store, {measure}
    """
    assert kinds(schema)["stock"] == "fact"


PARTIES = """
    person *party > party, hobby text
    sale   *id, who > {who}, buyer > {buyer}, amount decimal
"""


def test_a_subtype_is_a_part_of_its_supertype() -> None:
    schema = PARTIES.format(who="party", buyer="party")
    result = roles(source(f"party *id, name text\n{schema}"))["person"]
    assert (result.kind, result.whole) == ("part", "party")


def test_a_subtype_of_something_abstract_stands_alone() -> None:
    """Where events refer to the person, and the party is only a number."""
    schema = PARTIES.format(who="person", buyer="person")
    result = roles(source(f"party *id\n{schema}"))["person"]
    assert result.kind == "dimension"
    assert result.reason == "It's a subtype of party, but other tables refer to it directly."


def test_a_subtype_joins_a_supertype_that_events_refer_to_as_well() -> None:
    schema = PARTIES.format(who="person", buyer="party")
    assert kinds(f"party *id, name text\n{schema}")["person"] == "part"


def test_what_adds_to_an_event_is_an_event() -> None:
    """A complaint about an order has neither date nor measure, and is counted all the same."""
    result = roles(source(f"{SALES} complaint *id, orders > orders, remark_name text"))["complaint"]
    assert result == EntityRole("fact", "It adds details to orders, which records events.")


def test_lookups_alone_make_dimensions_alone() -> None:
    schema = "country *code text, name text\ncolour *code text, name text"
    assert set(kinds(schema).values()) == {"dimension"}


def test_a_single_table_of_measured_entities_is_a_fact() -> None:
    """Passengers with their fares are there to be analysed."""
    assert kinds("passenger *id, name text, fare double") == {"passenger": "fact"}


def test_tables_that_refer_to_each_other_get_a_role() -> None:
    """A store has a manager, who works in a store."""
    schema = "store *id, name text, manager > staff\nstaff *id, name text, store > store"
    assert set(kinds(schema).values()) == {"dimension"}


def test_a_customer_with_a_last_order_stays_a_dimension() -> None:
    """What an event refers to is no event, even if it refers back."""
    schema = SALES.replace("customer *id, name text", "customer *id, name text, last > orders")
    assert kinds(schema)["customer"] == "dimension"


def test_a_bridge_between_events_is_an_event() -> None:
    schema = f"""{SALES}
        payment *id, paid date, amount decimal, customer > customer
        settles *orders > orders, *payment > payment
    """
    assert kinds(schema)["settles"] == "fact"


def test_a_calendar_of_the_source_is_a_dimension() -> None:
    """Even though it holds dates and numbers: each row is a day."""
    result = roles(
        source("""
            days *id, day date, year/2, month/12, week_of_year/52
            sale day > days, amount decimal
        """)
    )["days"]
    assert result == EntityRole("dimension", "Each row is a day: a calendar.")


def test_every_role_says_why() -> None:
    assert all(role.reason.endswith(".") for role in roles(source(SALES)).values())


def test_a_flag_along_with_two_references_doesnt_hide_a_bridge() -> None:
    """``is_primary`` describes the pair, and nobody counts it."""
    schema = "a *id, name text\nb *id, name text\nab *a > a, *b > b, is_primary boolean/2"
    assert kinds(schema)["ab"] == "bridge"


def test_a_table_without_rows_and_key_is_no_fact(tmp_path: Path) -> None:
    """Nothing shows that something happened, whatever its columns are called."""
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE audit (happened_at TIMESTAMP, amount DECIMAL(8,2))")
        database.execute(
            "CREATE TABLE sale AS SELECT i + 900 AS sale_id, DATE '2024-01-01' + CAST(i AS INTEGER)"
            " AS sold_on, CAST(i % 7 + 0.5 AS DECIMAL(8,2)) AS amount FROM range(60) AS t (i)"
        )
    with open_source(path) as opened:
        forged = forge(opened, technique="dimensional")
    assert forged.model.dimensional is not None
    assert [fact.entity_name for fact in forged.model.dimensional.facts] == ["sale"]
    assert forged.proof.verdict == "proven"


VOTES = """
    post      *id, title text, creation_date date
    vote_type *id, name text
    answer    *id, body text/9, creation_date date, post_id > post
    vote      *id, post_id > post, vote_type_id > vote_type, creation_date date
"""


def test_a_numbered_and_dated_row_of_a_pair_that_repeats_is_an_event() -> None:
    assert kinds(VOTES)["vote"] == "fact"


def test_a_pair_with_the_date_when_it_was_recorded_is_a_bridge() -> None:
    tagging = """
        post      *id, title text, creation_date date
        tag       *id, name text
        answer    *id, body text/9, creation_date date, post_id > post
        tagging   *post_id > post, *tag_id > tag, creation_date date
    """
    assert kinds(tagging)["tagging"] == "bridge"


STATIONS = """
    river   *id, name text
    commune *id, name text
    station *id, river_id > river, commune_id > commune, stock_level double
    reading *id, station_id > station, read_on date, amount decimal
"""


def test_an_undated_place_with_a_level_of_its_own_is_a_dimension() -> None:
    assert kinds(STATIONS)["station"] == "dimension"


def test_an_undated_pair_that_others_refer_to_is_an_event_only_with_a_level() -> None:
    pair = "pair *river_id > river, *commune_id > commune{more}"
    names = "river *id, name text\ncommune *id, name text\n"
    note = "note *id, text text"
    references = reference("note", "river_id commune_id", "pair", "river_id commune_id")
    for more, kind in ((", stock_level double", "fact"), ("", "dimension")):
        schema = f"{names}{pair.format(more=more)}\n{note}, river_id, commune_id"
        assert roles(source(schema, references))["pair"].kind == kind


def test_a_match_of_a_season_between_two_members_is_an_event() -> None:
    schema = """
        team    *code text, name text
        contest *id, home text > team, guest text > team, season text/9, result text/60
    """
    assert kinds(schema)["contest"] == "fact"
