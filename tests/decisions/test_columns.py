"""Decisions about text, measures, personal data, names and entities."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fluid_build.decisions.language import (
    AnyDecision,
    Describe,
    DropRelationship,
    Ignore,
    Measure,
    Merge,
    PersonalData,
    Rename,
    Split,
    TextType,
)
from fluid_build.decisions.weighing import amended, weigh
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from tests.decisions.shop import Shop


def placed(**fields: object) -> TextType:
    return TextType.model_validate({"table": "orders", "column": "placed", **fields})


def test_dates_that_fit_two_orders_are_read_as_decided(shop: Shop) -> None:
    before = shop.profile.table("orders").column("placed")
    assert before.measured_type is None
    assert before.notes
    column = (
        shop.amended(placed(read_as="date", date_format="%m/%d/%Y"))
        .table("orders")
        .column("placed")
    )
    assert (column.measured_type, column.reversible) == ("DATE (%m/%d/%Y)", True)
    assert not column.notes, "the question is answered"


def test_statistics_of_another_reading_are_dropped(shop: Shop) -> None:
    """What was counted of values as they were read before says nothing of them now."""
    column = shop.profile.table("orders").column("price_text")
    counted = column.model_copy(update={"mean": "3", "measured_type": "BIGINT"})
    table = shop.profile.table("orders")
    columns = tuple(counted if each == column else each for each in table.columns)
    tables = tuple(
        table.model_copy(update={"columns": columns}) if each == table else each
        for each in shop.profile.tables
    )
    decision = TextType(table="orders", column="price_text", read_as="number", decimal="comma")
    verdict = shop.verdict(decision)
    profile = amended(shop.profile.model_copy(update={"tables": tables}), [verdict])
    assert profile.table("orders").column("price_text").mean is None


def test_values_that_dont_fit_the_format_are_counted(shop: Shop) -> None:
    verdict = shop.verdict(placed(read_as="date", date_format="%Y-%m-%d"))
    assert verdict.status == "refused"
    assert verdict.message == (
        "300 of 300 values of `orders.placed` can't be read as a date (%Y-%m-%d)."
    )
    assert verdict.evidence is not None
    assert len(shop.rows(verdict.evidence.sql)) == verdict.evidence.violations == 300


def test_nobody_can_insist_on_reading_text_that_cant_be_read(shop: Shop) -> None:
    decision = TextType(table="customers", column="name", read_as="number", despite_violations=True)
    verdict = shop.verdict(decision)
    assert verdict.status == "refused"
    assert verdict.message == (
        "60 of 60 values of `customers.name` can't be read as a number."
        " The column stays as it is, even if a person insists."
    )
    assert shop.amended(decision) == shop.profile


def test_a_decimal_comma_makes_a_number(shop: Shop) -> None:
    decision = TextType(table="orders", column="price_text", read_as="number", decimal="comma")
    column = shop.amended(decision).table("orders").column("price_text")
    assert (column.measured_type, column.reversible) == ("DOUBLE (decimal comma)", False)


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (
            TextType(table="orders", column="big", read_as="number"),
            "`orders.big` isn't text: the source stores it as DOUBLE.",
        ),
        (
            TextType(table="customers", column="zip", read_as="number"),
            "`customers.zip` holds codes (postal_code), which stay text.",
        ),
        (
            placed(read_as="date", date_format="%d/%m"),
            "`orders.placed` can't be read as a date by a format without a year.",
        ),
        (
            placed(read_as="date", date_format="{{ 7 * 7 }}%Y"),
            "`orders.placed` can't be read with that date format: use directives such as %d/%m/%Y.",
        ),
        (
            Measure(table="orders", column="customer_id", additivity="additive"),
            "`orders.customer_id` refers to `customers`, so a sum of it says nothing.",
        ),
        (
            Measure(table="orders", column="order_id", additivity="non-additive"),
            "`orders.order_id` identifies the rows of `orders`, so a sum of it says nothing.",
        ),
        (
            Measure(table="returns_backup", column="order_id", additivity="additive", by="model"),
            "`returns_backup.order_id` is named as an id, so a sum of it says nothing.",
        ),
        (
            Measure(table="orders", column="order_no", additivity="additive"),
            "`orders.order_no` isn't a number: it's VARCHAR.",
        ),
        (
            PersonalData(table="customers", column="email", is_personal=False, by="model"),
            "`customers.email` holds personal data (email); only a person can say it doesn't.",
        ),
        (
            Rename(table="orders", new_name="Customers"),
            "Another table is called `Customers` already.",
        ),
        (
            Rename(table="orders", column="order_no", new_name="amount"),
            "Another column of `orders` is called `amount` already.",
        ),
        (
            Ignore(table="returns", by="model"),
            "`returns` has 30 rows, and only a person can leave it out.",
        ),
        (
            Merge(
                table="clients",
                columns=("mail",),
                into_table="customers",
                into_columns=("city",),
            ),
            "`customers.city` isn't unique: 54 of 60 rows repeat a value.",
        ),
        (
            Merge(
                table="clients",
                columns=("mail",),
                into_table="customers",
                into_columns=("name",),
            ),
            "`clients.mail` and `customers.name` have no value in common.",
        ),
        (
            Split(table="customers", columns=("city",), attributes=("name",), entity="place"),
            "6 of 6 values of `customers.city` have several combinations of the attributes.",
        ),
        (
            Split(table="customers", columns=("id",), entity="person"),
            "`customers.id` identifies the rows of `customers` itself.",
        ),
    ],
)
def test_what_the_data_contradicts_is_refused(
    shop: Shop, decision: AnyDecision, message: str
) -> None:
    verdict = shop.verdict(decision)
    assert (verdict.status, verdict.message) == ("refused", message)


def test_a_number_that_isnt_a_measure_may_be_an_id(shop: Shop) -> None:
    decision = Measure(table="orders", column="order_id", additivity="none")
    assert shop.verdict(decision).status == "accepted"


def test_tables_with_common_values_can_be_merged(shop: Shop) -> None:
    verdict = shop.verdict(
        Merge(table="clients", columns=("mail",), into_table="customers", into_columns=("email",))
    )
    assert verdict.message == "20 of 40 values of `clients.mail` are in `customers.email` too."


def test_columns_that_decide_others_can_be_split_off(shop: Shop) -> None:
    decision = Split(table="customers", columns=("zip",), attributes=("city",), entity="place")
    assert shop.verdict(decision).status == "accepted"


def test_a_personal_column_keeps_no_values(shop: Shop) -> None:
    before = shop.profile.table("orders").column("order_no")
    assert before.top_values
    column = shop.amended(PersonalData(table="orders", column="order_no")).table("orders")
    after = column.column("order_no")
    assert (after.pii, after.top_values, after.min, after.max) == (True, (), None, None)


def test_a_personal_column_keeps_no_statistics(shop: Shop) -> None:
    before = shop.profile.table("orders").column("big")
    assert before.mean and before.quantiles and before.histogram
    column = shop.amended(PersonalData(table="orders", column="big")).table("orders")
    after = column.column("big")
    assert (after.mean, after.quantiles, after.histogram) == (None, None, ())


def test_a_person_can_say_that_a_column_isnt_personal(shop: Shop) -> None:
    decision = PersonalData(table="customers", column="email", is_personal=False)
    column = shop.amended(decision).table("customers").column("email")
    assert (column.pii, column.semantic_type) == (False, "email")


def test_a_description_becomes_the_comment(shop: Shop) -> None:
    profile = shop.amended(
        Describe(table="orders", text="What was ordered."),
        Describe(table="orders", column="big", text="A level."),
    )
    assert profile.table("orders").comment == "What was ordered."
    assert profile.table("orders").column("big").comment == "A level."


def test_an_ignored_table_takes_its_references_along(shop: Shop) -> None:
    profile = shop.amended(Ignore(table="customers", reason="Elsewhere."))
    assert "customers" not in {table.name for table in profile.tables}
    assert profile.foreign_keys == ()
    assert (profile.ignored, profile.skipped) == (("customers",), ())
    assert profile.notes == (
        *shop.profile.notes,
        "customers is ignored. Decided by a person: Elsewhere.",
    )


def test_a_model_cant_sum_what_it_says_refers_to_nothing(shop: Shop) -> None:
    dropped = DropRelationship(
        from_table="orders", from_columns=("customer_id",), to_table="customers", to_columns=("id",)
    )
    measure = {"table": "orders", "column": "customer_id", "additivity": "additive"}
    *_, verdict = shop.weigh(dropped, Measure.model_validate({**measure, "by": "model"}))
    assert verdict.status == "refused"
    assert "refers to `customers`" in verdict.message
    *_, verdict = shop.weigh(dropped, Measure.model_validate(measure))
    assert verdict.status == "accepted"


@pytest.mark.parametrize("is_reversed", [False, True])
def test_every_reading_that_parts_a_reference_is_refused(tmp_path: Path, is_reversed: bool) -> None:
    """However many there are, and whichever comes first."""
    path = tmp_path / "days.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        for name in ("opened", "closed", "paid"):
            database.execute(f"CREATE TABLE {name} (day TEXT PRIMARY KEY)")
            database.execute(
                f"CREATE TABLE {name}_log (n INTEGER PRIMARY KEY, day TEXT REFERENCES {name} (day))"
            )
            days = [(f"2024-{n % 12 + 1:02}-{n % 9 + 1:02}",) for n in range(36)]
            database.executemany(f"INSERT INTO {name} VALUES (?)", sorted(set(days)))
            database.executemany(
                f"INSERT INTO {name}_log VALUES (?, ?)", [(n, *day) for n, day in enumerate(days)]
            )
    readings = [
        TextType(table=f"{name}_log", column="day", read_as="text")
        for name in ("opened", "closed", "paid")
    ]
    with open_source(path) as source:
        decisions = readings[::-1] if is_reversed else readings
        verdicts = weigh(source, profile_source(source), decisions)
    assert {(verdict.status, "is read differently" in verdict.message) for verdict in verdicts} == {
        ("refused", True)
    }


@pytest.mark.parametrize(
    ("values", "decimal"),
    [
        (["1.1", "1.10", "1.2"], None),
        (["5", "5.0", "7.0"], None),
        (["2.5", "2.50", "3.75"], "point"),
        (["1,1", "1,10", "1,2"], "comma"),
    ],
)
def test_a_model_cant_read_codes_as_numbers(
    tmp_path: Path, values: list[str], decimal: str | None
) -> None:
    """Zeros that tell values apart make them codes; only a person reads them as numbers."""
    path = tmp_path / "t.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, release TEXT)")
        database.executemany("INSERT INTO t (release) VALUES (?)", [(v,) for v in values])
    claim = {"table": "t", "column": "release", "read_as": "number", "decimal": decimal}
    with open_source(path) as source:
        profile = profile_source(source)
        decisions = [TextType.model_validate({**claim, "by": by}) for by in ("model", "person")]
        refused, taken = (weigh(source, profile, [decision])[0] for decision in decisions)
    zeros = sum(value.endswith("0") for value in values)
    assert refused.status == "refused"
    assert refused.message.startswith(f"`t.release` holds codes: {zeros} of 3 values have zeros")
    assert taken.status == "accepted"
