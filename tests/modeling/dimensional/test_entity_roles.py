"""Events and things are told apart by who refers to whom, by dates, measures and rows."""

from functools import cache
from pathlib import Path

import duckdb
import pytest

from fluid_build.forge import forge
from fluid_build.modeling.dimensional.entity_roles import EntityRole, entity_roles
from fluid_build.modeling.dimensional.reference_graph import reference_graph
from fluid_build.modeling.entities import conceptual_model
from fluid_build.profiling.profile import Profile
from fluid_build.sources import open_source
from tests.modeling.profiles import column, profile, reference, table, values


def roles(measured: Profile) -> dict[str, str]:
    return {name: role.kind for name, role in full_roles(measured).items()}


def full_roles(measured: Profile) -> dict[str, EntityRole]:
    return dict(entity_roles(reference_graph(measured, conceptual_model(measured))))


def key(name: str = "id", **more: object) -> dict[str, object]:
    return {"primary_key": (name,), "candidate_keys": ((name,),), **more}


@cache
def sales() -> Profile:
    """Orders with lines and payments, of products and customers, of a category."""
    return profile(
        table("category", column("id"), column("name", "VARCHAR"), **key()),
        table("product", column("id"), column("name", "VARCHAR"), column("cat"), **key()),
        table("customer", column("id"), column("name", "VARCHAR"), **key()),
        table(
            "orders",
            column("id"),
            column("customer", distinct=30),
            column("ordered", "DATE", distinct=50),
            column("freight", "DECIMAL(10,2)", distinct=30),
            **key(),
        ),
        table(
            "line",
            column("orders"),
            column("no", distinct=4),
            column("product", distinct=20),
            column("quantity", distinct=9, min="1", max="50"),
            primary_key=("orders", "no"),
            candidate_keys=(("orders", "no"),),
        ),
        foreign_keys=[
            reference("product", "cat", "category", "id"),
            reference("orders", "customer", "customer", "id"),
            reference("line", "orders", "orders", "id"),
            reference("line", "product", "product", "id"),
        ],
    )


def test_a_header_is_an_event_and_what_it_refers_to_is_not() -> None:
    """Lines refer to the order as they do to the product, but the order is dated and short."""
    assert roles(sales()) == {
        "category": "dimension",
        "product": "dimension",
        "customer": "dimension",
        "orders": "fact",
        "line": "fact",
    }


def test_a_header_may_refer_to_something_that_most_of_its_rows_lack() -> None:
    """An order is an event though few orders come with a voucher."""
    shop = sales()
    vouchers = table("voucher", column("code", "VARCHAR"), **key("code"))
    orders = shop.table("orders")
    orders = orders.model_copy(
        update={"columns": (*orders.columns, column("voucher", "VARCHAR", nulls=90, distinct=9))}
    )
    others = tuple(one for one in shop.tables if one.name != "orders")
    shop = shop.model_copy(
        update={
            "tables": (*others, orders, vouchers),
            "foreign_keys": (
                *shop.foreign_keys,
                reference("orders", "voucher", "voucher", "code", nulls=90),
            ),
        }
    )
    assert roles(shop)["orders"] == "fact"


def test_names_do_not_decide() -> None:
    """The same tables under names that say nothing come out the same."""
    said = {"category": "t1", "product": "t2", "customer": "t3", "orders": "t4", "line": "t5"}
    renamed = sales().model_copy(
        update={
            "tables": tuple(
                one.model_copy(update={"name": said[one.name]}) for one in sales().tables
            ),
            "foreign_keys": tuple(
                one.model_copy(
                    update={"from_table": said[one.from_table], "to_table": said[one.to_table]}
                )
                for one in sales().foreign_keys
            ),
        }
    )
    assert roles(renamed) == {said[name]: kind for name, kind in roles(sales()).items()}


def test_a_thing_that_many_rows_lean_on_is_no_header() -> None:
    """A promotion is dated too, but thousands of sales refer to each."""
    measured = profile(
        table("item", column("id"), column("name", "VARCHAR"), **key()),
        table(
            "promotion",
            column("id", rows=3, distinct=3),
            column("item", rows=3, distinct=3),
            column("begins", "DATE", rows=3, distinct=3),
            **key(),
        ),
        table(
            "sale",
            column("promotion", distinct=3),
            column("amount", "DECIMAL(9,2)", distinct=90),
            rows=30_000,
        ),
        foreign_keys=[
            reference("promotion", "item", "item", "id"),
            reference("sale", "promotion", "promotion", "id"),
        ],
    )
    assert roles(measured)["promotion"] == "dimension"


def test_an_associative_table_without_measures_is_a_bridge() -> None:
    """It ties two entities; its rank or share goes along."""
    measured = profile(
        table("film", column("id"), column("title", "VARCHAR"), **key()),
        table("actor", column("id"), column("name", "VARCHAR"), **key()),
        table(
            "cast",
            column("film", distinct=40),
            column("actor", distinct=30),
            column("billed", distinct=9, min="1", max="9"),
            primary_key=("film", "actor"),
            candidate_keys=(("film", "actor"),),
        ),
        foreign_keys=[
            reference("cast", "film", "film", "id"),
            reference("cast", "actor", "actor", "id"),
        ],
    )
    assert roles(measured)["cast"] == "bridge"


@pytest.mark.parametrize(
    "measure",
    [column("price", "DECIMAL(9,2)", distinct=80), column("on_hand", distinct=50, max="900")],
    ids=["price", "quantity"],
)
def test_an_associative_table_that_measures_is_a_fact(measure: object) -> None:
    """What a vendor asks for a product, and how much is in stock, is measured."""
    measured = profile(
        table("product", column("id"), column("name", "VARCHAR"), **key()),
        table("store", column("id"), column("name", "VARCHAR"), **key()),
        table(
            "stock",
            column("product", distinct=40),
            column("store", distinct=30),
            measure,  # type: ignore[arg-type]
            primary_key=("product", "store"),
            candidate_keys=(("product", "store"),),
        ),
        foreign_keys=[
            reference("stock", "product", "product", "id"),
            reference("stock", "store", "store", "id"),
        ],
    )
    assert roles(measured)["stock"] == "fact"


def _party(*more: object, **facts: object) -> Profile:
    return profile(
        table("party", column("id"), *more, **key()),  # type: ignore[arg-type]
        table("person", column("party"), column("hobby", "VARCHAR", distinct=40), **key("party")),
        table(
            "sale",
            column("id"),
            column("who", distinct=40),
            column("buyer", distinct=40),
            column("amount", "DECIMAL(9,2)", distinct=80),
            **key(),
        ),
        foreign_keys=[reference("person", "party", "party", "id"), *facts.values()],
    )


def test_a_subtype_is_a_part_of_its_supertype() -> None:
    """A person says more about a party, one to one; so it is a part of that dimension."""
    name = column("name", "VARCHAR")
    found = full_roles(_party(name, sale=reference("sale", "who", "party", "id")))
    assert (found["person"].kind, found["person"].whole) == ("part", "party")


def test_a_subtype_of_something_abstract_stands_alone() -> None:
    """Where events refer to the person, and the party is but a number, the person is a thing."""
    found = roles(_party(sale=reference("sale", "who", "person", "party")))
    assert found["person"] == "dimension"


def test_a_subtype_that_events_refer_to_joins_a_supertype_that_they_refer_to_as_well() -> None:
    """Sales by person and sales by party are told of one dimension."""
    measured = _party(
        column("name", "VARCHAR"),
        a=reference("sale", "who", "person", "party"),
        b=reference("sale", "buyer", "party", "id"),
    )
    assert roles(measured)["person"] == "part"


def test_what_tells_of_an_event_is_an_event() -> None:
    """A complaint about an order has neither date nor measure, and is counted all the same."""
    complaint = table(
        "complaint", column("id"), column("orders", distinct=60), column("said", "VARCHAR"), **key()
    )
    more = sales().model_copy(
        update={
            "tables": (*sales().tables, complaint),
            "foreign_keys": (
                *sales().foreign_keys,
                reference("complaint", "orders", "orders", "id"),
            ),
        }
    )
    assert roles(more)["complaint"] == "fact"


def test_a_table_without_a_key_is_an_event() -> None:
    """Nothing can refer to its rows, so there is nothing to group by."""
    assert roles(profile(table("log", column("what", "VARCHAR", distinct=3)))) == {"log": "fact"}


def test_lookups_alone_make_dimensions_alone() -> None:
    """Where nothing happens there is nothing to count."""
    measured = profile(
        table("country", column("code", "VARCHAR"), column("name", "VARCHAR"), **key("code")),
        table("colour", column("code", "VARCHAR"), column("name", "VARCHAR"), **key("code")),
    )
    assert set(roles(measured).values()) == {"dimension"}


def test_of_tables_that_measure_things_the_one_that_measures_most_is_the_fact() -> None:
    """A single table of passengers with a fare is there to be analysed."""
    measured = profile(
        table(
            "passenger",
            column("id"),
            column("name", "VARCHAR"),
            column("fare", "DOUBLE", distinct=70),
            **key(),
        )
    )
    assert roles(measured) == {"passenger": "fact"}


def test_tables_that_refer_to_each_other_still_get_a_role() -> None:
    """A store has a manager, who works in a store."""
    measured = profile(
        table("store", column("id"), column("name", "VARCHAR"), column("manager"), **key()),
        table("staff", column("id"), column("name", "VARCHAR"), column("store"), **key()),
        foreign_keys=[
            reference("store", "manager", "staff", "id"),
            reference("staff", "store", "store", "id"),
        ],
    )
    assert set(roles(measured).values()) == {"dimension"}


def test_a_customer_with_a_last_order_stays_a_thing() -> None:
    """A reference to an event from what the event refers to does not make it one."""
    customer = table(
        "customer", column("id"), column("name", "VARCHAR"), column("last", distinct=90), **key()
    )
    circle = sales().model_copy(
        update={
            "tables": tuple(customer if one.name == "customer" else one for one in sales().tables),
            "foreign_keys": (*sales().foreign_keys, reference("customer", "last", "orders", "id")),
        }
    )
    assert roles(circle)["customer"] == "dimension"


def test_a_calendar_of_the_source_is_a_dimension_though_it_holds_dates_and_numbers() -> None:
    """Each row is a day."""
    measured = profile(
        table(
            "days",
            column("id"),
            column("day", "DATE"),
            column("year", distinct=2),
            column("month", distinct=12),
            column("week_of_year", distinct=52),
            **key(),
        ),
        table("sale", column("day"), column("amount", "DECIMAL(9,2)", distinct=90), rows=100),
        foreign_keys=[reference("sale", "day", "days", "id")],
    )
    assert roles(measured)["days"] == "dimension"


def test_every_role_is_explained() -> None:
    """Each says why, in a sentence."""
    assert all(role.reason.endswith(".") for role in full_roles(sales()).values())


def test_a_flag_beside_two_references_does_not_hide_a_tie() -> None:
    """``is_primary`` says something of the pair, and is counted by nobody."""
    measured = profile(
        table("a", column("id"), column("name", "VARCHAR"), **key()),
        table("b", column("id"), column("name", "VARCHAR"), **key()),
        table(
            "ab",
            column("a", distinct=40),
            column("b", distinct=40),
            column("is_primary", "BOOLEAN", distinct=2, top_values=values(true=50, false=50)),
            primary_key=("a", "b"),
            candidate_keys=(("a", "b"),),
        ),
        foreign_keys=[reference("ab", "a", "a", "id"), reference("ab", "b", "b", "id")],
    )
    assert roles(measured)["ab"] == "bridge"


def test_a_table_without_rows_and_key_is_no_fact(tmp_path: Path) -> None:
    """Nothing shows that something happened, whatever its columns are called."""
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE audit (happened_at TIMESTAMP, amount DECIMAL(8,2))")
        database.execute(
            "CREATE TABLE sale AS SELECT i + 900 AS sale_id, DATE '2024-01-01' + CAST(i AS INTEGER)"
            " AS sold_on, CAST(i % 7 + 0.5 AS DECIMAL(8,2)) AS amount FROM range(60) AS t (i)"
        )
    with open_source(path) as source:
        forged = forge(source, technique="dimensional")
    assert forged.model.dimensional is not None
    assert [one.entity_name for one in forged.model.dimensional.facts] == ["sale"]
    assert forged.proof.verdict == "proven"
