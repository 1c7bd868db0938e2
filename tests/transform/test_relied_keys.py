"""Keys that a model relies on: rows that break one are in quarantine, or their hash is tested."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile
from fluid_build.sources import open_source
from fluid_build.transform.dbt.data_tests import data_tests
from fluid_build.transform.dbt.dialects import dialect_of
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


def kept_keys(plan: TransformPlan, table: str) -> set[tuple[str, ...]]:
    """The keys of a table whose broken rows go to its quarantine."""
    calls = [build.call for build in plan.quarantines if build.title == table]
    keys = [call.arguments["unique"] for call in calls if call is not None]
    return {tuple(key) for of_table in keys if isinstance(of_table, list) for key in of_table}


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_what_is_made_of_a_table_reads_the_quarantine(profile: Profile, technique: str) -> None:
    """So it's loaded after it, and without the rows in it; the keys need no test."""
    plan = transform_plan(build_model(profile, technique))
    assert kept_keys(plan, "customer") == {("id",)}
    for build in plan.published:
        is_kept = any(name.startswith("quarantine_") for name in read_by(plan, build.name))
        assert is_kept or build.title in {"visit", "tl_visit", "dim_date"}, build.name
    assert not any(test.kind == "unique" for build in staging(plan) for test in build.tests)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_dbt_warns_of_what_a_load_sets_apart(profile: Profile, technique: str) -> None:
    """In one test, which stops nothing."""
    plan = transform_plan(build_model(profile, technique))
    (test,) = data_tests(plan, dialect_of("duckdb"))["quarantine"].of_relation
    (entry,) = test.values()
    assert entry["name"] == "quarantine_is_empty"
    assert entry["config"] == {"severity": "warn", "fail_calc": "coalesce(sum(failures), 0)"}


def test_a_vault_tests_the_hash_where_keys_that_differ_become_one(profile: Profile) -> None:
    """By case: of the rows that are loaded."""
    model = build_model(profile, "data_vault_2")
    assert model.dv2 is not None
    strategy = model.dv2.hash_key_strategy.model_copy(update={"case": "upper"})
    vault = model.dv2.model_copy(update={"hash_key_strategy": strategy})
    plan = transform_plan(model.model_copy(update={"dv2": vault}))
    (test,) = key_tests(plan, "customer").values()
    assert test.columns == ("customer_hk",)
    assert test.scope.blank == "broken_rule"


def test_a_vault_keeps_the_keys_that_become_hashes(profile: Profile) -> None:
    """Of a hub, a link, a multi-active satellite and a code list."""
    plan = transform_plan(build_model(profile, "data_vault_2"))
    assert kept_keys(plan, "customer_phone") == {("customer_id", "kind")}
    assert kept_keys(plan, "order_line") == {("order_id", "line_no")}
    assert kept_keys(plan, "country") == {("code",)}
    assert kept_keys(plan, "visit") == set()


def test_what_a_business_key_is_looked_up_by_is_kept_too(profile: Profile) -> None:
    """Rows that share it lead to several business keys."""
    plan = transform_plan(build_model(profile, "data_vault_2"))
    assert kept_keys(plan, "product") == {("id",), ("sku",)}


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
