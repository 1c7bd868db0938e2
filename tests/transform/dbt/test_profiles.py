"""Where a project builds and where it reads its source, for every target."""

import re
import string
from pathlib import Path

import duckdb
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.sources import open_source
from fluid_build.transform.dbt.portable_paths import base_of, connection_string, jinja_string
from fluid_build.transform.dbt.profiles_yml import warehouse_profile
from fluid_build.transform.dbt.source_entries import external
from fluid_build.transform.dbt.targets import TARGETS, Target
from tests.transform.dbt.opened_projects import project_of, render

WAREHOUSES = [target for target in TARGETS if target != "duckdb"]


@pytest.mark.parametrize("target", WAREHOUSES)
def test_every_value_of_a_warehouse_that_is_not_ours_comes_from_the_environment(
    target: Target,
) -> None:
    """The profile names variables, all of them explained, and no place, user or password."""
    profile = warehouse_profile("shop", target, "shop_model")
    output = yaml.safe_load(profile.text)["shop"]["outputs"]["dev"]
    ours = {
        "type": target,
        "threads": 4,
        "dataset" if target == "bigquery" else "schema": "shop_model",
        **({"method": "oauth"} if target == "bigquery" else {}),
    }
    assert {key: output[key] for key in ours} == ours
    asked = {key: value for key, value in output.items() if key not in ours}
    named = {re.search(r"env_var\('(\w+)'", value)[1] for value in asked.values()}  # type: ignore[index]
    assert named == set(profile.variables)


def test_a_source_of_another_kind_is_read_from_a_schema_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project says that the tables have to be loaded, and where; a variable changes that."""
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute('CREATE TABLE "Big T" AS SELECT 1 AS id')
    monkeypatch.chdir(tmp_path)
    with project_of(str(path), tmp_path, target="snowflake") as made:
        (entry,) = made.access.entries
        assert entry.schema == "{{ var('source_schema', 'shop') }}"
        assert (entry.identifier, entry.database, entry.meta) == ("Big T", None, {})
        assert made.access.schema == "shop_model"
        assert "Load the source tables into Snowflake first" in made.access.notes[0]


def test_ddl_has_tables_and_no_rows_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project asks for the tables in its own database, and says so."""
    (tmp_path / "shop.sql").write_text("CREATE TABLE t (id INTEGER PRIMARY KEY);")
    monkeypatch.chdir(tmp_path)
    with project_of(str(tmp_path / "shop.sql"), tmp_path) as made:
        assert made.access.entries[0].schema == "{{ var('source_schema', 'shop') }}"
        assert "shop.duckdb" in made.access.notes[0]


def test_the_target_is_never_the_source_s_alias_or_a_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names that DuckDB or the models need are not given to the database or the alias."""
    path = tmp_path / "system.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE source_data AS SELECT 1 AS id")
    monkeypatch.chdir(tmp_path)
    with project_of(str(path), tmp_path) as made:
        assert made.access.database == "system_2"
        assert made.access.entries[0].database == "source_data_2"
        assert made.differing("source_data") == 0


@given(st.text())
def test_jinja_gives_back_any_text(text: str) -> None:
    """A text put into an expression of Jinja's comes out as it was."""
    assert render(f"{{{{ {jinja_string(text)} }}}}", {}) == text


@given(st.text(alphabet=st.sampled_from("{}%#$'\"ab1 \\\n"), max_size=12))
def test_dbt_gives_back_any_sql(text: str) -> None:
    """Neither Jinja nor dbt-duckdb's placeholders change SQL that holds their marks."""
    meta = external([f"(SELECT {text} )"])
    rendered = render(meta["external_location"], {})
    if "formatter" in meta:
        assert string.Template(rendered).substitute() == f"(SELECT {text} )"
    else:
        assert rendered.format_map({}) == f"(SELECT {text} )"


def test_a_path_goes_from_the_project_s_real_folder(tmp_path: Path) -> None:
    """Where the project lies behind a link, the way to the source is that of the system."""
    real = tmp_path / "a" / "b" / "project"
    real.mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(real, target_is_directory=True)
    source = tmp_path / "data.csv"
    source.write_text("id\n1\n")
    assert base_of(str(source), link).relative == "../../../data.csv"
    assert (link / "../../../data.csv").exists()


@pytest.mark.parametrize("is_template", [True, False])
@given(name=st.text(alphabet=st.sampled_from("{}%#$'\"ab1 [*?"), min_size=1, max_size=9))
def test_dbt_reads_from_a_folder_of_any_name(
    tmp_path_factory: pytest.TempPathFactory, is_template: bool, name: str
) -> None:
    """No mark of SQL, of Jinja, of a placeholder or of a pattern in a path has a meaning."""
    folder = tmp_path_factory.mktemp("data") / name
    folder.mkdir()
    (folder / f"{name}.txt").write_text("found")
    path = base_of(str(folder), Path.cwd()).sql(folder / f"{name}.txt", template=is_template)
    rendered = render(path, {})
    filled = string.Template(rendered).substitute() if is_template else rendered.format_map({})
    assert duckdb.sql(f"SELECT content FROM read_text({filled})").fetchall() == [("found",)]


@pytest.mark.parametrize(
    ("dsn", "expected"),
    [
        (
            "postgresql://u:p%20w@h:5433/db?sslmode=require",
            "postgresql://u@h:5433/db?sslmode=require",
        ),
        ("host=h user=u password='it''s'", "host=h user=u"),
        ("postgresql://u@h/db?password=x", "postgresql://u@h/db"),
    ],
)
def test_a_connection_string_loses_its_password(dsn: str, expected: str) -> None:
    """What is left still names the server, the user and the database."""
    assert render(connection_string(dsn), {}) == expected


def test_opening_a_source_says_where_each_table_is(tmp_path: Path) -> None:
    """Every table of a source with rows can be read again."""
    (tmp_path / "t.csv").write_text("id\n1\n")
    with open_source(str(tmp_path)) as source:
        assert all(table.origin is not None for table in source.tables)
