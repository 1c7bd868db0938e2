"""Models that call a macro: what they render to is the plan's own SQL, for every database."""

import re
from pathlib import Path

import pytest
import sqlglot

from fluid_build.modeling.data_vault.elements import HashKeyStrategy
from fluid_build.transform.dbt.dialects import dialect_of
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.targets import check_target
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.databases import EVERY_TYPE, Modelled, database, modelled
from tests.transform.dbt.projects import LOAD_DATE, TARGETS, compiled_models, schema_access

SHOP = (
    EVERY_TYPE,
    "CREATE TABLE country (code VARCHAR PRIMARY KEY, name VARCHAR NOT NULL)",
    "INSERT INTO country VALUES ('AT', 'Austria'), ('BE', 'Belgium'), ('CH', 'Switzerland')",
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, email VARCHAR, city VARCHAR, code VARCHAR"
    " REFERENCES country (code), lowest DOUBLE, recency DATE, born TIMESTAMPTZ)",
    "INSERT INTO customer SELECT i + 100, 'c' || i || '@example.org', 'Town ' || i % 5,"
    " ['AT', 'BE', 'CH'][i % 3 + 1], i / 7, DATE '2024-01-01' + CAST(i AS INTEGER),"
    " TIMESTAMPTZ '1990-01-01 00:00:00+00' FROM range(60) AS t(i)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (id),"
    " placed_at TIMESTAMP, total DECIMAL(9,2), status VARCHAR)",
    "INSERT INTO orders SELECT i + 5000, (i * 7) % 60 + 100, TIMESTAMP '2024-01-01 10:00:00'"
    " + INTERVAL (i) HOUR, i % 17 + 0.5, ['open', 'paid'][i % 2 + 1] FROM range(300) AS t(i)",
    "CREATE TABLE customer_phone (customer_id INTEGER REFERENCES customer (id), kind VARCHAR,"
    " phone VARCHAR, PRIMARY KEY (customer_id, kind))",
    "INSERT INTO customer_phone SELECT i % 60 + 100, ['home', 'work'][i // 60 + 1], '+43 1 ' || i"
    " FROM range(120) AS t(i)",
    "CREATE TABLE visit (customer_id INTEGER REFERENCES customer (id), page VARCHAR)",
    "INSERT INTO visit SELECT i % 60 + 100, 'page ' || i % 9 FROM range(900) AS t(i)",
)


@pytest.fixture(scope="module", params=["data_vault_2", "dimensional"])
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Modelled:
    """A shop with something for each pattern, and columns of every type."""
    path = database(tmp_path_factory.mktemp("shop") / "shop.duckdb", *SHOP)
    with modelled(path, request.param) as made:
        return made


def in_project(sql: str) -> str:
    """A query of a plan with what dbt puts into it."""
    sql = sql.replace("getvariable('load_date')", f"'{LOAD_DATE}'")
    return re.sub(r"\b(?:model|source)\.(\w+)", r"x.\1", sql)


def written(plan: TransformPlan, shop: Modelled, target: str) -> dict[str, str]:
    """The project's files."""
    access = schema_access(plan, "raw", {"type": target})
    return dbt_project(plan, shop.model, target=target, access=access)


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("target", ["duckdb", *TARGETS])
def test_a_model_renders_to_the_sql_of_the_plan(shop: Modelled, target: str, again: bool) -> None:
    """That is what was proven; elsewhere it's the same but for how it's laid out."""
    plan = transform_plan(shop.model)
    dialect = dialect_of(check_target(target))
    called = {build.name: build for build in plan.builds if build.call is not None}
    assert called
    for path, sql in compiled_models(written(plan, shop, target), again=again):
        if (build := called.get(Path(path).stem)) is not None:
            planned = in_project(build.next_sql if again else build.sql)
            assert same_query(sql, target) == same_query(dialect.query(planned), target), path


def same_query(sql: str, target: str) -> str:
    """A query without what makes no difference: its layout, and where nulls come that aren't."""
    tree = sqlglot.parse_one(sql, read=target)
    for ordered in tree.find_all(sqlglot.exp.Ordered):
        ordered.set("nulls_first", None)
    return re.sub(r"\bNOT (\S+) IS NULL", r"\1 IS NOT NULL", tree.sql(target, comments=False))


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_models_are_short_and_so_are_their_lines(tmp_path: Path, technique: str) -> None:
    """What a pattern does is said in its macro."""
    with modelled(database(tmp_path / "shop.duckdb", *SHOP[1:]), technique) as shop:
        plan = transform_plan(shop.model)
        files = written(plan, shop, "duckdb")
    called = {build.name for build in plan.builds if build.call is not None}
    for path, text in files.items():
        if Path(path).stem in called and path.endswith(".sql"):
            lines = text.splitlines()
            assert len(lines) <= 12, text
            assert max(map(len, lines)) <= 100


def test_every_macro_of_the_patterns_is_documented(shop: Modelled) -> None:
    """A comment before it says what it's for."""
    files = written(transform_plan(shop.model), shop, "duckdb")
    for name in ("history", "vault", "dimension", "hashing"):
        text = files.get(f"macros/{name}.sql", "")
        assert len(re.findall(r"-#\}\n\{% macro ", text)) == text.count("{% macro ")


def test_a_hash_of_other_conventions_is_in_the_macros(tmp_path: Path) -> None:
    """Another algorithm, delimiter and null token; the keys of the vault say the same."""
    with modelled(database(tmp_path / "shop.duckdb", *SHOP), "data_vault_2") as shop:
        assert shop.model.dv2 is not None
        strategy = HashKeyStrategy(algorithm="sha256", delimiter=";", null_token="{{ ? }}")
        vault = shop.model.dv2.model_copy(update={"hash_key_strategy": strategy})
        other = shop.model.model_copy(update={"dv2": vault})
        plan = transform_plan(other)
        files = dbt_project(plan, other, access=schema_access(plan, "raw", {"type": "duckdb"}))
    satellite = plan.build("sat_orders")
    models = dict(compiled_models(files, again=False))
    assert "SHA256(" in satellite.sql
    assert same_query(models["models/raw_vault/sat_orders.sql"], "duckdb") == same_query(
        in_project(satellite.sql), "duckdb"
    )
