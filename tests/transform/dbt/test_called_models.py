"""Models that call a macro: what they render to is the plan's own SQL, for every database."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2
import pytest
import sqlglot
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from fluid_build.modeling.data_vault.elements import HashKeyStrategy
from fluid_build.modeling.dimensional.calendars.settings import calendar_settings
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.techniques import build_model
from fluid_build.observations.observe import observe
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.transform.dbt.called_models import call_text
from fluid_build.transform.dbt.dialects import dialect_of
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.targets import check_target
from fluid_build.transform.plan.elements import MacroCall, Relation, TransformPlan
from fluid_build.transform.plan.macro_calls import MACROS
from fluid_build.transform.plan.sql_layout import LINE_WIDTH
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.databases import EVERY_TYPE, Modelled, database, modelled
from tests.transform.dbt.projects import (
    LOAD_DATE,
    OF_RUNS,
    TARGETS,
    compiled_models,
    schema_access,
)
from tests.transform.dimensional.shop import SHOP as STAR
from tests.transform.dimensional.test_hierarchies import TREE
from tests.transform.dimensional.test_hierarchies import statements as hierarchy
from tests.transform.dimensional.test_service_days import statements

SHOP = (
    EVERY_TYPE,
    "CREATE TABLE country (code VARCHAR PRIMARY KEY, name VARCHAR NOT NULL)",
    "INSERT INTO country VALUES ('AT', 'Austria'), ('BE', 'Belgium'), ('CH', 'Switzerland')",
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, email VARCHAR, city VARCHAR, code VARCHAR"
    " REFERENCES country (code), lowest DOUBLE, surplus DATE, born TIMESTAMPTZ)",
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


KEYS = (
    "CREATE TABLE place (country VARCHAR, town VARCHAR, since TIMESTAMPTZ, area DOUBLE UNIQUE,"
    " replaced_at DATE, PRIMARY KEY (country, town))",
    "INSERT INTO place SELECT 'c' || i % 4, 't' || i, TIMESTAMPTZ '1990-01-01 00:00:00+00',"
    " i + 0.5, DATE '2020-01-01' + CAST(i AS INTEGER) FROM range(40) AS t(i)",
    "CREATE TABLE meter (serial DOUBLE PRIMARY KEY, country VARCHAR, town VARCHAR, kind VARCHAR,"
    " FOREIGN KEY (country, town) REFERENCES place (country, town))",
    "INSERT INTO meter SELECT i + 0.25, 'c' || i % 4, 't' || i % 40, ['gas', 'heat'][i % 2 + 1]"
    " FROM range(80) AS t(i)",
    "CREATE TABLE reading (id INTEGER PRIMARY KEY, serial DOUBLE REFERENCES meter (serial),"
    " area DOUBLE REFERENCES place (area), read_on DATE, consumption DECIMAL(9,2))",
    "INSERT INTO reading SELECT i, i % 80 + 0.25, i % 40 + 0.5,"
    " DATE '2024-01-01' + CAST(i // 9 AS INTEGER), i % 97 + 0.5 FROM range(900) AS t(i)",
)
"""Keys of several parts, of fractions, and a reference by a value that isn't the key."""


@pytest.fixture(scope="module", params=["data_vault_2", "dimensional"])
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Modelled:
    """A shop with something for each pattern, and columns of every type."""
    path = database(tmp_path_factory.mktemp("shop") / "shop.duckdb", *SHOP)
    with modelled(path, request.param) as made:
        return made


def assert_rendered(plan: TransformPlan, model: LogicalModel, target: str, again: bool) -> set[str]:
    """Each model is the plan's SQL; the macros that they call."""
    dialect = dialect_of(check_target(target))
    called = {build.name: build for build in plan.builds if build.call is not None}
    for path, sql in compiled_models(written(plan, model, target), again=again):
        if (build := called.get(Path(path).stem)) is not None:
            planned = in_project(build.next_sql if again else build.sql)
            assert same_query(sql, target) == same_query(dialect.query(planned), target), path
    return {build.call.macro for build in called.values() if build.call is not None}


def in_project(sql: str) -> str:
    """A query of a plan with what dbt puts into it."""
    sql = sql.replace("getvariable('load_date')", f"'{LOAD_DATE}'")
    return re.sub(r"\b(?:model|source)\.(\w+)", r"x.\1", sql)


def written(plan: TransformPlan, model: LogicalModel, target: str) -> dict[str, str]:
    """The project's files."""
    access = schema_access(plan, "raw", {"type": target})
    return dbt_project(plan, model, target=target, access=access)


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("target", ["duckdb", *TARGETS])
def test_a_model_renders_to_the_sql_of_the_plan(shop: Modelled, target: str, again: bool) -> None:
    """That is what was proven; elsewhere it's the same but for how it's laid out."""
    assert assert_rendered(transform_plan(shop.model), shop.model, target, again)


@pytest.mark.parametrize("variant", ["star", "wide"])
@pytest.mark.parametrize(
    "statements",
    [STAR, KEYS, statements(), hierarchy(TREE)],
    ids=["shop", "keys", "services", "hierarchy"],
)
def test_a_mart_renders_to_the_sql_of_the_plan(
    tmp_path: Path, statements: Sequence[str], variant: str
) -> None:
    """Whatever its keys, its variant and its calendar are."""
    calendar = calendar_settings("7", "de")
    with open_source(database(tmp_path / "shop.duckdb", *statements)) as source:
        profile = profile_source(source)
        observed = observe(source, profile)
    model = build_model(profile, "dimensional", variant, observed, calendar)
    for target in ("duckdb", *TARGETS):
        for again in (False, True):
            macros = assert_rendered(transform_plan(model), model, target, again)
    assert {"calendar", "fact"} <= macros


def same_query(sql: str, target: str) -> str:
    """A query without what makes no difference: its layout, repeated casts, and the like."""
    tree = sqlglot.parse_one(sql, read=target)
    for ordered in tree.find_all(sqlglot.exp.Ordered):
        ordered.set("nulls_first", None)
    for cast in tree.find_all(sqlglot.exp.Cast):
        while isinstance(cast.this, sqlglot.exp.Cast) and cast.this.to == cast.to:
            cast.set("this", cast.this.this)
    for parenthesis in list(tree.find_all(sqlglot.exp.Paren)):
        if isinstance(parenthesis.this, sqlglot.exp.Paren):
            parenthesis.replace(parenthesis.this)
    return re.sub(r"\bNOT (\S+) IS NULL", r"\1 IS NOT NULL", tree.sql(target, comments=False))


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_models_are_short_and_so_are_their_lines(tmp_path: Path, technique: str) -> None:
    """What a pattern does is said in its macro."""
    with modelled(database(tmp_path / "shop.duckdb", *SHOP[1:]), technique) as shop:
        plan = transform_plan(shop.model)
        files = written(plan, shop.model, "duckdb")
    # What isn't published has the SQL of its table besides the call.
    called = {build.name for build in plan.published if build.call is not None}
    models = [
        text.splitlines()
        for path, text in files.items()
        if Path(path).stem in called and path.endswith(".sql")
    ]
    assert max(len(line) for lines in models for line in lines) <= 100
    assert sum(map(len, models)) / len(models) <= 13, "on average; the longest has the most columns"
    assert max(map(len, models)) <= 30


@pytest.mark.parametrize("again", [False, True])
def test_the_lines_that_models_render_to_are_short(shop: Modelled, again: bool) -> None:
    """Macros break those that names make long."""
    files = written(transform_plan(shop.model), shop.model, "duckdb")
    for path, sql in compiled_models(files, again=again):
        lines = sql.splitlines()
        assert max(map(len, lines)) <= LINE_WIDTH, path
        assert not [line for line in lines if line != line.rstrip()], path


names = st.from_regex(r"[a-z][a-z_]{0,59}", fullmatch=True)
arguments = st.recursive(
    names | names.map(Relation) | st.just(True),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=9)
        | st.dictionaries(names, inner, min_size=1, max_size=9)
    ),
    max_leaves=20,
)


@given(st.dictionaries(names, arguments, min_size=1, max_size=4))
def test_the_lines_of_a_call_are_short_and_say_its_arguments(named: dict[str, object]) -> None:
    """However many there are, and however deep: names have up to 60 characters."""
    assume(_depth(named) <= 5)
    text = call_text(MacroCall(macro="made", arguments=named), dialect_of("duckdb"))
    assert max(map(len, text.splitlines())) <= 100
    rendered: list[object] = []
    jinja2.Environment().from_string(text).render(
        made=lambda **said: rendered.append(said), ref=Relation
    )
    assert rendered == [named]


def _depth(value: object) -> int:
    if isinstance(value, Mapping):
        return 1 + max(map(_depth, value.values()), default=0)
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def test_every_macro_of_the_patterns_is_documented(shop: Modelled) -> None:
    """A comment before it says what it's for."""
    files = written(transform_plan(shop.model), shop.model, "duckdb")
    for name in (*MACROS, "hashing", "database"):
        text = files.get(f"macros/{name}.sql", "")
        assert len(re.findall(r"-#\}\n\{% macro ", text)) == text.count("{% macro ")
    described = yaml.safe_load(files["macros/_macros.yml"])["macros"]
    assert {entry["name"] for entry in described} == {
        name
        for path, text in files.items()
        if path.endswith(".sql") and path.startswith("macros/") and path not in OF_RUNS
        for name in re.findall(r"\{% macro (\w+)", text)
    }
    assert all(entry["description"] for entry in described)


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
