"""The dbt project: it builds, says where it came from, and takes nobody's text for code."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import jinja2
import pytest
import yaml

from fluid_build.modeling.logical import LogicalModel
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.project_names import project_name
from fluid_build.transform.dbt.running import DbtResult, run_dbt
from fluid_build.transform.plan.elements import (
    LOAD_DATE,
    Build,
    BuildTest,
    PlanColumn,
    TransformPlan,
)
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.databases import EVERY_TYPE, database, modelled
from tests.transform.dbt.projects import duckdb_access, manifest, written

STRANGE_VALUES = ("O'Brien", "{{ 7 * 7 }}", "{% endif %}", "ref('x')", "a\\b", '"', "01")
SHOP = (
    EVERY_TYPE,
    """
    CREATE TABLE "{{ Cust }} ""om"" ers" (
        "Id" INTEGER PRIMARY KEY, "{% raw %}" VARCHAR, "it's: #1" VARCHAR, "order" VARCHAR,
        "{# no #}" VARCHAR
    )
    """,
    """
    INSERT INTO "{{ Cust }} ""om"" ers"
    SELECT i, CASE i % 7 WHEN 0 THEN 'O''Brien' WHEN 1 THEN '{{ 7 * 7 }}' WHEN 2 THEN '{% endif %}'
        WHEN 3 THEN 'ref(''x'')' WHEN 4 THEN 'a\\b' WHEN 5 THEN '"' ELSE '01' END,
        'x', 'line' || chr(13) || chr(10) || i, i // 2
    FROM range(70) AS r(i)
    """,
    """
    CREATE TABLE lines (
        order_id INTEGER, line_no INTEGER, customer INTEGER, amount DECIMAL(10, 2),
        PRIMARY KEY (order_id, line_no)
    )
    """,
    "INSERT INTO lines SELECT i // 3, i % 3, i % 72, i * 1.5 FROM range(216) AS r(i)",
    "CREATE TABLE notes (order_id INTEGER, line_no INTEGER, text VARCHAR)",
    "INSERT INTO notes SELECT i // 3, i % 4, 'note' FROM range(60) AS r(i)",
)
SPINE_TESTS = {"not_null_time_spine_daily_date_day", "unique_time_spine_daily_date_day"}
CUSTOMERS = "cust_om_ers"


@dataclass(frozen=True)
class Shop:
    """A project in a folder, with the source that it reads."""

    source: Path
    plan: TransformPlan
    model: LogicalModel
    project: Path

    @property
    def built(self) -> Path:
        """The database that dbt builds in."""
        return self.project / f"{project_name(self.plan)}.duckdb"

    def query(self, sql: str) -> list[Any]:
        """Rows of what dbt built."""
        with duckdb.connect(str(self.built), read_only=True) as connection:
            return connection.execute(sql).fetchall()


def test_of(build: str, kind: str, columns: str, **more: Any) -> BuildTest:
    """A test by hand; its columns are parted by blanks."""
    name = f"{build}_{'_'.join(columns.split())}_{kind}"
    return BuildTest.model_validate(
        {"name": name, "kind": kind, "columns": columns.split(), **more}
    )


test_of.__test__ = False  # type: ignore[attr-defined]


def history() -> Build:
    """An incremental build: each customer once, when it was first loaded."""
    columns = {"id": "INTEGER", "brace": "VARCHAR", "load_date": "TIMESTAMP"}
    first_load = (
        f"SELECT\n    id,\n    '{{{{ x }}}}' AS brace,\n    {LOAD_DATE} AS load_date\n"
        f"FROM model.stg_{CUSTOMERS} AS staged"
    )
    return Build(
        name="hub_customer",
        layer="raw_vault",
        materialization="incremental",
        title="Customer {{ hub }}",
        description="Once {% raw %} each.",
        sql=first_load,
        next_load=f"{first_load}\nWHERE NOT EXISTS (\n    SELECT 1\n    FROM model.hub_customer"
        " AS known\n    WHERE known.id = staged.id\n)",
        ref_models=(f"stg_{CUSTOMERS}",),
        columns=tuple(
            PlanColumn(
                name=name,
                type=type_,
                contract_type="string",
                tags=("technical",) if name == "load_date" else (),
            )
            for name, type_ in columns.items()
        ),
        key=("id",),
        tests=(
            test_of("hub_customer", "unique", "id", reason="One {{ row }} a key."),
            test_of("hub_customer", "not_null", "load_date"),
        ),
    )


def with_stricter(tests: Iterable[BuildTest]) -> Iterator[BuildTest]:
    """The tests, and of those that allow for some rows one that allows for one less."""
    for test in tests:
        yield test
        if test.allowed:
            yield test.model_copy(
                update={"name": f"{test.name}_strict", "allowed": test.allowed - 1}
            )


def with_tests(plan: TransformPlan) -> TransformPlan:
    """The plan with tests of every kind, and a vault of one hub."""
    added = {
        CUSTOMERS: [
            test_of(CUSTOMERS, "accepted_values", "raw", values=STRANGE_VALUES),
            test_of(CUSTOMERS, "accepted_values", "id", values=tuple(map(str, range(70)))),
            test_of(CUSTOMERS, "unique", "no_", allowed=35),
            test_of(CUSTOMERS, "unique", "it_s_1", severity="warn"),
            test_of(CUSTOMERS, "not_null", "order_ raw"),
            test_of(CUSTOMERS, "unique", "it_s_1", severity="info", reason="never"),
        ],
        "lines": [
            test_of("lines", "unique", "order_id line_no"),
            test_of("lines", "relationships", "customer", to_model=CUSTOMERS, to_columns=("id",),
                    allowed=6, severity="warn"),
        ],
        "notes": [
            test_of("notes", "relationships", "order_id line_no", to_model="lines",
                    to_columns=("order_id", "line_no"), allowed=15, role="about"),
            test_of("notes", "unique", "order_id text", allowed=40),
        ],
    }  # fmt: skip
    builds = tuple(
        build.model_copy(update={"tests": tuple(with_stricter(added.get(build.name, ())))})
        for build in plan.builds
    )
    return plan.model_copy(update={"builds": (*builds, history())})


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """The project of a shop whose every name and value is awkward."""
    folder = tmp_path_factory.mktemp("shop")
    path = database(folder / "shop.duckdb", *SHOP)
    with modelled(path) as source:
        plan = with_tests(transform_plan(source.model))
        files = dbt_project(plan, source.model, access=duckdb_access(plan, path))
        return Shop(path, plan, source.model, written(files, folder / "dbt"))


@pytest.fixture(scope="module")
def first(dbt: None, shop: Shop) -> DbtResult:
    """What came of the first build."""
    return run_dbt(shop.project, variables={"load_date": "2024-01-01 00:00:00"})


def rendered(text: str) -> str:
    """What Jinja makes of a text."""
    return jinja2.Environment().from_string(text).render()


def read(shop: Shop, file: str) -> Any:
    """A YAML file of the project."""
    return yaml.safe_load((shop.project / file).read_text(encoding="utf-8"))


def test_everything_is_built_and_nothing_is_warned_of_but_what_was_announced(
    first: DbtResult, shop: Shop
) -> None:
    """Every model is built under its contract; known exceptions pass; only the new one warns."""
    assert [node.message for node in first.failed] == []
    assert first.ok
    assert {node.name for node in first.built} >= {build.name for build in shop.plan.builds}
    assert first.warnings == ()
    broken = [one.promise for node in first.warned for one in node.broken]
    assert [name for name in broken if not name.endswith("_strict")] == [
        f"{CUSTOMERS}_it_s_1_unique"
    ]


def test_other_projects_may_read_only_what_is_published(parsed: dict[str, Any]) -> None:
    """Other projects build on what has a contract; all models have one owner."""
    models = [node for node in parsed["nodes"].values() if node["resource_type"] == "model"]
    of_plan = [model for model in models if "semantic" not in model["fqn"]]
    of_the_load = [m for m in of_plan if {"staging", "quarantine"} & {*m["fqn"]}]
    assert {model["access"] for model in of_the_load} == {"protected"}
    published = [model for model in of_plan if model not in of_the_load]
    assert {model["access"] for model in published} == {"public"}
    assert all(model["contract"]["enforced"] for model in published)
    assert {model["group"] for model in models} == {"shop"}
    assert [group["name"] for group in parsed["groups"].values()] == ["shop"]


def test_keys_and_references_have_a_test_each_and_all_else_of_a_relation_one(
    first: DbtResult,
) -> None:
    """However many promises there are, dbt runs at most two tests of those it has none for."""
    tests = {node.name for node in first.nodes if node.kind == "test"}
    assert tests - SPINE_TESTS == {
        f"{CUSTOMERS}_it_s_1_unique",
        f"{CUSTOMERS}_promises",
        f"{CUSTOMERS}_expectations",
        "lines_order_id_line_no_unique",
        "lines_customer_relationships",
        "lines_customer_relationships_strict",
        "notes_expectations",
        "hub_customer_id_unique",
        "quarantine_is_empty",
    }


def test_keys_and_references_are_tests_of_dbt_below_their_column(parsed: dict[str, Any]) -> None:
    """Tools that look for tests of keys find them, with the severity that they have."""
    found = {
        node["name"]: (node["test_metadata"]["name"], node["column_name"], node["config"])
        for node in parsed["nodes"].values()
        if node["resource_type"] == "test"
        and node["test_metadata"]["name"] not in {"promises", "nothing_set_apart"}
        and node["name"] not in SPINE_TESTS
    }
    assert {name: (kind, column) for name, (kind, column, _) in found.items()} == {
        f"{CUSTOMERS}_it_s_1_unique": ("unique", "it_s_1"),
        "lines_order_id_line_no_unique": ("unique_combination_of_columns", None),
        "lines_customer_relationships": ("relationships", "customer"),
        "lines_customer_relationships_strict": ("relationships", "customer"),
        "hub_customer_id_unique": ("unique", "id"),
    }
    assert {
        name: (config["severity"], config["warn_if"])
        for name, (*_, config) in found.items()
        if not name.endswith("_strict")
    } == {
        f"{CUSTOMERS}_it_s_1_unique": ("warn", "!= 0"),
        "lines_order_id_line_no_unique": ("error", "!= 0"),
        "lines_customer_relationships": ("warn", ">6"),
        "hub_customer_id_unique": ("error", "!= 0"),
    }


def test_a_key_that_the_load_computes_is_a_constraint_and_no_test(parsed: dict[str, Any]) -> None:
    """No row can break it, and a node costs dbt far more than its query."""
    nodes = parsed["nodes"]
    hub = next(node for node in nodes.values() if node["name"] == "hub_customer")
    constraints = {
        name: [one["type"] for one in column["constraints"]]
        for name, column in hub["columns"].items()
    }
    assert constraints == {"id": [], "brace": [], "load_date": ["not_null"]}
    assert not [node for node in nodes.values() if node["name"].endswith("load_date_not_null")]


def test_what_breaks_a_promise_is_counted_in_rows(first: DbtResult) -> None:
    """As many rows as are known are passed over in silence, and one more makes dbt warn."""
    broken = [one for node in first.warned for one in node.broken]
    strict = {
        one.promise.removesuffix("_strict"): (one.rows, one.known)
        for one in broken
        if one.promise.endswith("_strict")
    }
    assert strict == {
        f"{CUSTOMERS}_no__unique": (35, 34),
        "lines_customer_relationships": (6, 5),
        "notes_order_id_line_no_relationships": (15, 14),
        "notes_order_id_text_unique": (40, 39),
    }
    assert strict.keys().isdisjoint(one.promise for one in broken)


def test_values_are_what_the_source_has(first: DbtResult, shop: Shop) -> None:
    """Braces, quotes and line breaks come through as they are."""
    assert first.ok
    rows = shop.query(f"SELECT DISTINCT raw FROM {CUSTOMERS}")
    assert {value for (value,) in rows} == set(STRANGE_VALUES)
    assert shop.query(f"SELECT order_ FROM {CUSTOMERS} WHERE id = 7") == [("line\r\n7",)]
    assert shop.query("SELECT DISTINCT brace FROM hub_customer") == [("{{ x }}",)]


@pytest.fixture(scope="module")
def second(first: DbtResult, shop: Shop) -> DbtResult:
    """What came of a second build: a customer is new, values have changed, a table is gone."""
    assert first.ok
    with duckdb.connect(str(shop.source)) as connection:
        connection.execute("DROP TABLE notes")
        connection.execute("""UPDATE "{{ Cust }} ""om"" ers" SET "{% raw %}" = 'new'""")
        connection.execute(
            """INSERT INTO "{{ Cust }} ""om"" ers" VALUES (70, '01', 'x', 'new', '99')"""
        )
    return run_dbt(shop.project, variables={"load_date": "2024-02-01 00:00:00"})


def test_a_second_run_adds_what_is_new_and_nothing_else(second: DbtResult, shop: Shop) -> None:
    """An incremental model keeps its rows with their load date, and takes in the new one."""
    assert "hub_customer" in {node.name for node in second.built}
    loads = shop.query(
        "SELECT load_date::VARCHAR, count(*) FROM hub_customer GROUP BY 1 ORDER BY 1"
    )
    assert loads == [("2024-01-01 00:00:00", 70), ("2024-02-01 00:00:00", 1)]


def test_values_that_are_no_longer_accepted_fail_the_build(second: DbtResult) -> None:
    """A failed test names each promise that the data breaks, with its columns and rows."""
    failed = {node.name: node for node in second.failed}
    assert not second.ok
    broken = failed[f"{CUSTOMERS}_promises"].broken
    assert {one.promise: (one.columns, one.rows) for one in broken} == {
        f"{CUSTOMERS}_raw_accepted_values": (("raw",), 70),
        f"{CUSTOMERS}_id_accepted_values": (("id",), 1),
    }


def test_a_missing_table_of_the_source_fails_the_build(second: DbtResult) -> None:
    """What is gone at the source is named, and what stands on it is not built."""
    failed = {node.name: node for node in second.failed}
    assert failed["quarantine_notes"].kind == "model"
    assert "notes" in failed["quarantine_notes"].message
    assert "notes" in {node.name for node in second.skipped}


@pytest.fixture(scope="module")
def parsed(
    dbt: None, shop: Shop, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Any]]:
    """Dbt's manifest of the project; a warning would be an error."""
    yield manifest(shop.project, tmp_path_factory.mktemp("target"))


def test_a_strangers_text_is_documentation_and_nothing_else(parsed: dict[str, Any]) -> None:
    """Descriptions and names that look like Jinja are in dbt's manifest as they are."""
    nodes = {node["name"]: node for node in parsed["nodes"].values()}
    assert nodes["hub_customer"]["description"].startswith("Once {% raw %} each.")
    assert nodes["hub_customer"]["config"]["meta"]["title"] == "Customer {{ hub }}"
    assert nodes["hub_customer_id_unique"]["description"] == "One {{ row }} a key."
    source = next(s for s in parsed["sources"].values() if s["name"] == CUSTOMERS)
    assert source["identifier"] == '{{ Cust }} ""om"" ers'
    assert "{% raw %}" in source["columns"]
    column = nodes[CUSTOMERS]["columns"]["raw"]
    assert column["config"]["meta"]["source_columns"] == ['{{ Cust }} "om" ers.{% raw %}']


def test_published_models_have_a_contract_with_every_type(
    parsed: dict[str, Any], shop: Shop
) -> None:
    """Dbt enforces the columns and types that the plan promises."""
    nodes = {node["name"]: node for node in parsed["nodes"].values()}
    for build in shop.plan.builds:
        node = nodes[build.name]
        types = {name: column["data_type"] for name, column in node["columns"].items()}
        assert types == {column.name: column.type for column in build.columns}
        assert node["contract"]["enforced"] is (build.layer != "staging")


def test_an_incremental_model_appends_and_never_changes_its_columns_quietly(
    parsed: dict[str, Any],
) -> None:
    """The strategy is append, and a changed schema fails."""
    node = next(n for n in parsed["nodes"].values() if n["name"] == "hub_customer")
    config = node["config"]
    found = (config["materialized"], config["incremental_strategy"], config["on_schema_change"])
    assert found == ("incremental", "append", "fail")


def test_every_dataset_of_the_semantic_model_is_a_model_of_the_project(
    parsed: dict[str, Any], shop: Shop
) -> None:
    """Dbt finds a dataset's model by its database, schema and alias."""
    document = read(shop, f"osi/{shop.plan.name}.json")
    models = {
        f"{node['database']}.{node['schema']}.{node['alias']}".lower()
        for node in parsed["nodes"].values()
        if node["resource_type"] == "model"
    }
    sources = [dataset["source"] for dataset in document["semantic_model"][0]["datasets"]]
    assert len(sources) == len(shop.plan.published)
    assert set(sources) <= models


def test_the_readme_lists_changed_names_and_known_exceptions(shop: Shop) -> None:
    """Both can be read before the project is run."""
    text = (shop.project / "README.md").read_text(encoding="utf-8")
    assert "| `order` | `order_` |" in text
    assert "| `lines` | `relationships` | `customer` | 6 |" in text
    assert "load_date" in text


def test_a_broken_key_warns_and_stops_nothing(dbt: None, tmp_path: Path) -> None:
    """Its rows are in quarantine, whose test names the table, the rule and the rows."""
    path = database(
        tmp_path / "things.duckdb",
        "CREATE TABLE thing (id INTEGER NOT NULL, label VARCHAR)",
        "INSERT INTO thing SELECT i, 'l' || i % 7 FROM range(200) AS r(i)",
    )
    with modelled(path) as source:
        plan = transform_plan(source.model)
        files = dbt_project(plan, source.model, access=duckdb_access(plan, path))
    project = written(files, tmp_path / "dbt")
    with duckdb.connect(str(path)) as connection:
        connection.execute("INSERT INTO thing SELECT 1, 'again' FROM range(4)")
    result = run_dbt(project)
    assert result.ok
    (warned,) = result.warned
    assert warned.name == "quarantine_is_empty"


def test_the_readme_names_every_folder_of_models(shop: Shop) -> None:
    """Also that of the calendar, which dbt builds and no plan knows."""
    text = (shop.project / "README.md").read_text(encoding="utf-8")
    folders = {path.parent.name for path in (shop.project / "models").rglob("*.sql")}
    assert [name for name in folders if f"| `models/{name}` |" not in text] == []


def test_the_readme_claims_no_proof_where_there_was_no_row(tmp_path: Path) -> None:
    """Of empty tables nothing was compared."""
    path = database(tmp_path / "empty.duckdb", "CREATE TABLE a (id INTEGER PRIMARY KEY)")
    with modelled(path) as source:
        plan = transform_plan(source.model)
        files = dbt_project(plan, source.model, access=duckdb_access(plan, path))
    assert "## What the proof shows\n\nNothing: the source had no rows" in files["README.md"]


def test_the_readme_says_how_a_person_is_erased(tmp_path: Path) -> None:
    """The models of personal data are marked, so that who may read them can be decided."""
    path = database(
        tmp_path / "people.duckdb",
        "CREATE TABLE person (id INTEGER PRIMARY KEY, email VARCHAR, phone VARCHAR, role VARCHAR)",
        "INSERT INTO person SELECT i, 'ann' || i || '@example.org', '+44 20 7946 0' || (100 + i),"
        " 'r' || i % 5 FROM range(50) t(i)",
    )
    with modelled(path, "data_vault_2") as source:
        plan = transform_plan(source.model)
        files = dbt_project(plan, source.model, access=duckdb_access(plan, path))
    assert "personal data only: `sat_person_personal`." in files["README.md"]
    assert "beside other columns" not in files["README.md"]
    assert "DELETE FROM sat_person_personal\nWHERE person_hk IN (" in files["README.md"]
    described = yaml.safe_load(files["models/raw_vault/_raw_vault.yml"])
    personal = {m["name"] for m in described["models"] if m["config"]["meta"].get("pii")}
    assert personal == {"sat_person_personal"}


def test_a_project_never_takes_the_name_of_a_package_of_dbt(shop: Shop) -> None:
    """A project called dbt would hide dbt's own macros."""
    assert project_name(shop.plan.model_copy(update={"name": "dbt_duckdb"})) == "dbt_duckdb_project"
    assert project_name(shop.plan) == "shop"


def test_the_same_plan_gives_the_same_bytes(shop: Shop) -> None:
    """Nothing in the files comes from a clock, chance or the order of a set."""
    access = duckdb_access(shop.plan, shop.source)
    again = dbt_project(shop.plan, shop.model, access=access)
    for name, text in again.items():
        assert (shop.project / name).read_bytes() == text.encode()
