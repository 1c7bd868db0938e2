"""The sqlmesh project: its models, kinds and audits, and how it reaches the source."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.errors import UsageError
from fluid_build.forging import ForgeOptions
from fluid_build.sources.base import Source
from fluid_build.transform.dbt.jinja import Jinja
from fluid_build.transform.dbt.source_access import source_access
from fluid_build.transform.dbt.source_entries import SourceAccess, SourceEntry
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.execution import built
from fluid_build.transform.plan.sql_references import references
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.sqlmesh.audits import plan_audits
from fluid_build.transform.sqlmesh.project import sqlmesh_project
from fluid_build.transform.sqlmesh.sources import rendered_yaml, source_tables
from tests.transform.databases import Modelled, database, modelled

SHOP = (
    "CREATE TABLE city (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL)",
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR, city_id INTEGER"
    ' REFERENCES city (id), "e@mail" VARCHAR)',
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (id),"
    " ordered DATE, amount DECIMAL(9, 2))",
    "INSERT INTO city SELECT i, 'c' || i FROM range(1, 30) r(i)",
    "INSERT INTO customer SELECT i, 'n' || i, 1 + i % 25, 'x@y' || i FROM range(1, 60) r(i)",
    "INSERT INTO orders SELECT i, 1 + i % 50, DATE '2024-01-01' + CAST(i % 300 AS INTEGER), i * 1.5"
    " FROM range(200) r(i)",
)
TECHNIQUES = ("flat", "data_vault_2", "dimensional")


def access_of(source: Source, plan: TransformPlan, folder: Path) -> SourceAccess:
    """How a project in that folder reads a source."""
    assert source.opened_as is not None
    return source_access(source, plan, source.opened_as.address, project_dir=folder)


def files_of(shop: Modelled, folder: Path) -> dict[str, str]:
    """The project of a source."""
    plan = transform_plan(shop.model)
    return sqlmesh_project(plan, shop.model, access=access_of(shop.source, plan, folder))


def kinds(files: dict[str, str]) -> dict[str, str]:
    """The kind of each model by its name."""
    return {
        Path(path).stem: found[1]
        for path, text in files.items()
        if path.startswith("models/") and (found := re.search(r"\n  kind (\w+)", text))
    }


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_every_relation_has_a_model_and_nothing_of_the_plan_is_left(
    tmp_path: Path, technique: str
) -> None:
    """In the SQL of models and audits there's no name of the plan's own."""
    with modelled(database(tmp_path / "shop.duckdb", *SHOP), technique) as shop:
        files = files_of(shop, tmp_path / "sqlmesh")
        plan = transform_plan(shop.model)
    assert {build.name for build in plan.builds} <= set(kinds(files))
    for path, text in files.items():
        if path.endswith(".sql"):
            left = [token[0] for token in references(text) if not token["quoted"]]
            assert left == [], path


def test_a_vault_only_adds_rows(tmp_path: Path) -> None:
    """Hubs, links and satellites are insert-only, and read their own rows of earlier loads."""
    with modelled(database(tmp_path / "shop.duckdb", *SHOP), "data_vault_2") as shop:
        files = files_of(shop, tmp_path / "sqlmesh")
    of_vault = {name: kind for name, kind in kinds(files).items() if not name.startswith("stg_")}
    assert of_vault.pop("quarantine") == "VIEW"
    assert set(of_vault.values()) == {"INCREMENTAL_UNMANAGED"}
    for name in (each for each in of_vault if not each.startswith("quarantine_")):
        text = files[f"models/raw_vault/{name}.sql"]
        assert f"(SELECT * FROM main.{name} WHERE @has_loads())" in text
    assert "macros/has_loads.py" in files


def test_dimensions_keep_members_and_versions(tmp_path: Path) -> None:
    """Versions are sqlmesh's own kind below a view, and a dimension is merged by its key."""
    with modelled(database(tmp_path / "shop.duckdb", *SHOP), "dimensional") as shop:
        files = files_of(shop, tmp_path / "sqlmesh")
    found = kinds(files)
    histories = [name for name in found if name.endswith("_history")]
    assert histories
    for name in histories:
        assert found[name] == "VIEW"
        assert found[f"{name}_scd2"] == "SCD_TYPE_2_BY_COLUMN"
        assert found[name.removesuffix("_history")] == "INCREMENTAL_BY_UNIQUE_KEY"


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_audits_select_nothing_of_what_holds(tmp_path: Path, technique: str) -> None:
    """Each written audit runs on what the plan builds."""
    with modelled(database(tmp_path / "shop.duckdb", *SHOP), technique) as shop:
        plan = transform_plan(shop.model)
        audits = [each for all_ in plan_audits(plan).written.values() for each in all_]
        with built(shop.source, plan) as database_built:
            connection = database_built.connection
            for audit in audits:
                assert connection.execute(audit.sql).fetchall() == [], audit.name


def test_an_audit_names_what_breaks_it(tmp_path: Path) -> None:
    """A reference to a row that's gone is selected with its row."""
    with modelled(database(tmp_path / "shop.duckdb", *SHOP), "flat") as shop:
        plan = transform_plan(shop.model)
        written = plan_audits(plan).written
        with built(shop.source, plan) as database_built:
            connection = database_built.connection
            connection.execute("DELETE FROM model.city WHERE id = 3")
            found = {
                audit.name: connection.execute(audit.sql).fetchall()
                for audits in written.values()
                for audit in audits
                if "city" in audit.name and "reference" in audit.name
            }
    (rows,) = (rows for rows in found.values() if rows)
    assert all(3 in row for row in rows)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_model_comes_after_all_that_its_audits_read(tmp_path: Path, technique: str) -> None:
    """So no two models wait for each other."""
    with modelled(database(tmp_path / "shop.duckdb", *SHOP), technique) as shop:
        plan = transform_plan(shop.model)
    order = {build.name: number for number, build in enumerate(plan.builds)}
    audits = plan_audits(plan)
    assert any(audits.written.values())
    for name, others in audits.depends_on.items():
        assert all(order[other] < order[name] for other in others)


def test_a_warehouse_is_refused_with_those_that_work() -> None:
    """The option is refused before anything is read."""
    with pytest.raises(UsageError, match="Snowflake can't be written yet") as refused:
        ForgeOptions(target="snowflake", project="sqlmesh")
    assert "--target duckdb and postgres" in str(refused.value.hint)


def test_an_object_store_is_refused_with_what_works(tmp_path: Path) -> None:
    """Sqlmesh can't log in to a store as the dbt project does."""
    with modelled(database(tmp_path / "shop.duckdb", *SHOP), "flat") as shop:
        plan = transform_plan(shop.model)
        access = SourceAccess("shop", (), "", schema="main", database="shop", logs_in=True)
        with pytest.raises(UsageError, match="object store") as refused:
            sqlmesh_project(plan, shop.model, access=access)
    assert "local files" in str(refused.value.hint)


@pytest.mark.parametrize("name", ["@execution_ts", "a@this_model", "x@@y", "@{start_ds}"])
def test_a_name_that_sqlmesh_would_change_is_refused(tmp_path: Path, name: str) -> None:
    """An at sign stays, but a variable of sqlmesh's can't be written so that it does."""
    source = database(
        tmp_path / "odd.duckdb",
        f"CREATE TABLE t AS SELECT i AS id, 'v' || i AS \"{name}\" FROM range(120) r(i)",
    )
    with (
        modelled(source, "flat") as shop,
        pytest.raises(UsageError, match="replaces a part of the name") as refused,
    ):
        files_of(shop, tmp_path / "sqlmesh")
    assert "--exclude" in str(refused.value.hint)


def test_text_that_looks_like_jinja_is_written_as_itself(tmp_path: Path) -> None:
    """Sqlmesh parses a query with such text as Jinja, which a stranger's is not."""
    import jinja2

    source = database(
        tmp_path / "odd.duckdb",
        "CREATE TABLE t AS SELECT i AS id, 'v' || i AS \"{% raw %}{{ x }}\" FROM range(120) r(i)",
    )
    with modelled(source, "flat") as shop:
        files = files_of(shop, tmp_path / "sqlmesh")
    query = files["models/staging/stg_t.sql"].partition("JINJA_QUERY_BEGIN;\n")[2]
    rendered = jinja2.Environment(autoescape=False).from_string(query).render()
    assert '"{% raw %}{{ x }}"' in rendered


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_strangers_text_in_yaml_stays_text(text: str) -> None:
    """Sqlmesh renders the file first, so nothing but our own may be Jinja in it."""
    import jinja2
    import yaml

    value = Jinja("{{ env_var('X', 'a b') | tojson }}")
    file = rendered_yaml({"text": text, "nested": {"value": value}})
    rendered = jinja2.Environment(autoescape=False).from_string(file)
    found = yaml.safe_load(rendered.render(env_var=lambda _, default: default))
    assert found == {"text": text, "nested": {"value": "a b"}}


def test_a_table_without_an_entry_of_its_own_is_read_by_its_quoted_name() -> None:
    """Quotes in names are doubled once."""
    entry = SourceEntry("odd", 'o"dd', 'o""dd', "main", "data")
    assert source_tables(SourceAccess("shop", (entry,), "")) == {"odd": '"data"."main"."o""dd"'}
