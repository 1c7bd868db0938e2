"""Keys that a model relies on are tested on the staging, which everything loaded from it reads."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile
from fluid_build.sources import open_source
from fluid_build.transform.dbt.data_tests import RelationTests, data_tests
from fluid_build.transform.dbt.dialects import dialect_of
from fluid_build.transform.dbt.promise_macros import COMBINATION_TEST
from fluid_build.transform.plan.elements import Build, BuildTest, TransformPlan
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.data_vault.shop import REFERENCES, SHOP
from tests.transform.databases import database, modelled

TECHNIQUES = ("flat", "data_vault_2", "dimensional")


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    """The profile of a shop that has every shape of table."""
    file = database(tmp_path_factory.mktemp("shop") / "shop.duckdb", *SHOP)
    with open_source(file) as source:
        return profile_source(source).model_copy(update={"foreign_keys": REFERENCES})


def staging(plan: TransformPlan) -> list[Build]:
    return [build for build in plan.builds if build.layer == "staging"]


def key_tests(plan: TransformPlan, table: str) -> dict[tuple[str, tuple[str, ...]], BuildTest]:
    """The tests of uniqueness on a table's staging, by relation and columns of the source."""
    return {
        (build.name, source_columns(build, test)): test
        for build in staging(plan)
        if build.title == table
        for test in build.tests
        if test.kind == "unique"
    }


def source_columns(build: Build, test: BuildTest) -> tuple[str, ...]:
    columns = (one for name in test.columns for one in build.column(name).source_columns)
    return tuple(dict.fromkeys(one.column for one in columns if one.table == build.title))


def read_by(plan: TransformPlan, name: str) -> Iterator[str]:
    """A build and all that it reads, directly or not."""
    yield name
    for other in plan.build(name).ref_models:
        yield from read_by(plan, other)


def is_key_tested(tests: RelationTests) -> bool:
    """Whether dbt's community would see a key: a column without nulls that's unique, or several."""
    single = ({kind for test in of for kind in test} for of in tests.of_columns.values())
    return any(COMBINATION_TEST in test for test in tests.of_relation) or any(
        kinds >= {"unique", "not_null"} for kinds in single
    )


def has_a_tested_hash(build: Build) -> bool:
    """Whether a build's key may have a null, so that it's tested as a hash."""
    columns = {name for test in build.tests if test.kind == "unique" for name in test.columns}
    return any("hash-key" in build.column(name).tags for name in columns)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_what_is_made_of_a_table_reads_the_staging_that_tests_its_keys(
    profile: Profile, technique: str
) -> None:
    """So dbt leaves it out where such a test fails."""
    plan = transform_plan(build_model(profile, technique))
    tested = {build.name for build in staging(plan) if build.tests}
    assert {plan.build(name).title for name in tested} >= {"customer", "orders", "order_line"}
    for build in plan.published:
        feeding = set(read_by(plan, build.name)) & tested
        assert feeding or build.title in {"visit", "tl_visit", "dim_date"}, build.name
    for build in staging(plan):
        assert {test.severity for test in build.tests if test.kind == "unique"} <= {"error"}


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_the_dbt_test_of_a_stagings_keys_reads_that_relation_alone(
    profile: Profile, technique: str
) -> None:
    """A failed test holds back only what reads all of the relations that it reads."""
    plan = transform_plan(build_model(profile, technique))
    tests = data_tests(plan, dialect_of("duckdb"))
    for build in staging(plan):
        if build.name not in tests:
            continue
        found = tests[build.name]
        named = [*found.of_relation, *(test for of in found.of_columns.values() for test in of)]
        keys = [entry for test in named for kind, entry in test.items() if "unique" in kind]
        assert len(keys) == sum(test.kind == "unique" for test in build.tests)
        assert not any("config" in entry for entry in keys)
        assert not build.key or is_key_tested(found) or has_a_tested_hash(build), build.name
        assert not any("unique" in str(test["promises"]) for test in named if "promises" in test)


def test_a_vault_tests_a_key_in_the_columns_of_the_source(profile: Profile) -> None:
    """Its hash would say no more, and couldn't be null."""
    plan = transform_plan(build_model(profile, "data_vault_2"))
    for table, key in {"customer": ("id",), "customer_phone": ("customer_id", "kind")}.items():
        (test,) = key_tests(plan, table).values()
        assert test.columns == key


def test_a_vault_tests_the_hash_where_keys_that_differ_become_one(profile: Profile) -> None:
    """By case, and where a part may be null."""
    model = build_model(profile, "data_vault_2")
    (test,) = key_tests(transform_plan(model), "order_line").values()
    assert test.columns == ("order_line_lk",)
    assert model.dv2 is not None
    strategy = model.dv2.hash_key_strategy.model_copy(update={"case": "upper"})
    vault = model.dv2.model_copy(update={"hash_key_strategy": strategy})
    plan = transform_plan(model.model_copy(update={"dv2": vault}))
    (test,) = key_tests(plan, "customer").values()
    assert test.columns == ("customer_hk",)


def test_a_vault_tests_the_keys_that_become_hashes(profile: Profile) -> None:
    """Of a hub, a link, a multi-active satellite and a code list."""
    plan = transform_plan(build_model(profile, "data_vault_2"))
    assert list(key_tests(plan, "customer")) == [("stg_customer", ("id",))]
    assert list(key_tests(plan, "customer_phone")) == [
        ("stg_customer_phone", ("customer_id", "kind"))
    ]
    ((relation, columns),) = key_tests(plan, "order_line")
    assert (relation, columns[0]) == ("stg_order_line", "order_id")
    assert "line_no" in columns
    assert list(key_tests(plan, "country")) == [("stg_country", ("code",))]
    assert key_tests(plan, "visit") == {}


def test_what_a_business_key_is_looked_up_by_is_tested_where_it_is_read(profile: Profile) -> None:
    """The staging of other tables joins that of the table, and so must wait for its tests."""
    plan = transform_plan(build_model(profile, "data_vault_2"))
    assert set(key_tests(plan, "product")) == {
        ("stg_product", ("id",)),
        ("stg_product", ("sku",)),
    }


def test_a_key_that_was_broken_before_allows_for_what_is_known(tmp_path: Path) -> None:
    """A declared key with one violation is only warned of, where there are more."""
    shop = (
        "CREATE TABLE thing (id INTEGER, label VARCHAR)",
        "INSERT INTO thing SELECT i, 'l' || i FROM range(20) r(i)",
        "INSERT INTO thing VALUES (1, 'again')",
    )
    with modelled(database(tmp_path / "things.duckdb", *shop)) as found:
        claim = {
            "columns": ["id"],
            "evidence": {"origin": "declared", "rows": 21, "distinct": 20, "violations": 1},
        }
        table = found.profile.tables[0].model_validate(
            found.profile.tables[0].model_dump()
            | {"declared_keys": [claim], "primary_key": ("id",), "primary_key_origin": "declared"}
        )
        model: LogicalModel = build_model(
            found.profile.model_copy(update={"tables": (table,)}), "flat"
        )
    (test,) = key_tests(transform_plan(model), "thing").values()
    assert (test.severity, test.allowed) == ("warn", 1)
