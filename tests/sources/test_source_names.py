"""What a source is called."""

import json
import os
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.errors import UsageError
from fluid_build.sources import open_source
from fluid_build.sources.declarations.source_names import (
    check_name,
    database_name,
    name_of_path,
    says_nothing,
    title,
)


def name_of(place: Path) -> str:
    with open_source(str(place)) as source:
        return source.name


def csv_in(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "orders.csv").write_text("id,item\n1,a\n2,b\n")
    return folder


@pytest.mark.parametrize(
    "name",
    [
        "data",
        "Raw Data 2024",
        "csv_export",
        "données",
        "Datensätze",
        "2024-01",
        "MyDB",
        "数据",
        "--",
    ],
)
def test_a_name_of_words_for_data_says_nothing(name: str) -> None:
    assert says_nothing(name)


@pytest.mark.parametrize("name", ["sakila", "sales_data", "db2", "v2", "größe", "売上"])
def test_a_name_with_another_word_says_something(name: str) -> None:
    assert not says_nothing(name)


def test_a_folder_whose_name_says_nothing_is_called_like_the_one_around_it(tmp_path: Path) -> None:
    assert name_of(csv_in(tmp_path / "sakila" / "data" / "csv")) == "sakila"
    assert name_of(csv_in(tmp_path / "sakila" / "returns")) == "returns"


def test_a_database_file_is_called_like_itself_or_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "bikes"
    folder.mkdir()
    for file in ("main.duckdb", "rentals.duckdb"):
        duckdb.connect(str(folder / file)).execute("CREATE TABLE t AS SELECT 1 AS a").close()
    assert name_of(folder / "main.duckdb") == "bikes"
    assert name_of(folder / "rentals.duckdb") == "rentals"


def test_a_sql_file_is_called_like_its_folder_where_its_name_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "clinic").mkdir()
    (tmp_path / "clinic" / "schema.sql").write_text("CREATE TABLE t (a INT);")
    assert name_of(tmp_path / "clinic" / "schema.sql") == "clinic"


def test_a_glob_is_called_like_its_folder(tmp_path: Path) -> None:
    csv_in(tmp_path / "clinic" / "data")
    assert name_of(tmp_path / "clinic" / "data" / "*.csv") == "clinic"


def test_a_home_directory_or_a_root_names_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "people" / "jane"
    monkeypatch.setenv("HOME", str(home))
    assert name_of_path(home / "data", "data") == "data"
    assert name_of_path(home / "clinic" / "data", "data") == "clinic"
    assert name_of_path(Path("/data"), "data") == "data"
    assert name_of_path(Path("/home/joe/data"), "data") == "data"
    assert name_of_path(Path("/tmp/data"), "data") == "data"


def test_folders_far_above_name_nothing(tmp_path: Path) -> None:
    deep = tmp_path.joinpath("clinic", *["data"] * 5)
    assert name_of_path(deep, "data") == "data"


CATALOGS = {
    "datapackage.json": json.dumps({"name": "bike-sales", "title": "Bike sales", "resources": []}),
    "croissant.json": json.dumps({"@type": "sc:Dataset", "name": "Bike sales"}),
    "dataset-metadata.json": json.dumps({"title": "Bike sales", "licenses": []}),
    "contract.fluid.yaml": "fluidVersion: 0.7.2\nkind: DataProduct\nid: x\nname: Bike sales\n",
    "bikes.odcs.yaml": "apiVersion: v3.0.2\nkind: DataContract\nname: x\ndataProduct: Bike sales\n",
    "datacontract.yml": "dataContractSpecification: 1.1.0\ninfo: {title: Bike sales}\n",
}


@pytest.mark.parametrize("file", CATALOGS)
def test_a_catalog_or_contract_in_the_folder_names_it(file: str, tmp_path: Path) -> None:
    csv_in(tmp_path / "returns")
    (tmp_path / "returns" / file).write_text(CATALOGS[file])
    with open_source(str(tmp_path / "returns")) as source:
        assert source.name == "Bike sales"
        assert [table.name for table in source.tables] == ["orders"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("datapackage.json", "{"),
        ("datapackage.json", '{"title": "Dataset", "resources": []}'),
        ("deployment.yaml", "kind: Deployment\nname: web\n"),
        ("contract.yaml", "fluidVersion: 0.7.2\nexposes:\n- name: orders\n"),
        ("contract.yaml", "fluidVersion: 0.7.2\nname: [a, b]\n"),
        ("contract.yaml", "fluidVersion: 0.7.2\nname: !!python/name:os.system\n"),
        ("contract.yaml", "- fluidVersion: 0.7.2\n- name: a\n"),
        ("contract.yaml", "fluidVersion: 0.7.2\nname: '\\x07"),
    ],
)
def test_another_or_a_broken_file_names_nothing(file: str, text: str, tmp_path: Path) -> None:
    """JSON that describes no data is a table, or a broken one, as any other JSON."""
    csv_in(tmp_path / "returns")
    (tmp_path / "returns" / file).write_text(text)
    assert name_of(tmp_path / "returns") == "returns"


def test_a_contract_that_is_cut_in_the_middle_still_has_its_name(tmp_path: Path) -> None:
    text = "fluidVersion: 0.7.2\nname: Bike sales\nexposes:\n" + "- {a: 1}\n" * 100_000
    csv_in(tmp_path / "returns")
    (tmp_path / "returns" / "contract.fluid.yaml").write_text(text)
    assert name_of(tmp_path / "returns") == "Bike sales"


def test_a_pipe_in_the_folder_is_not_waited_for(tmp_path: Path) -> None:
    csv_in(tmp_path / "returns")
    os.mkfifo(tmp_path / "returns" / "contract.yaml")
    assert name_of(tmp_path / "returns") == "returns"


@given(st.text(max_size=500))
def test_a_title_is_one_short_printable_line(text: str) -> None:
    name = title(text)
    assert len(name) <= 80 and name.isprintable()
    assert not name or not says_nothing(name)


def test_a_database_is_called_by_its_comment_or_its_schema_where_its_name_says_nothing() -> None:
    assert database_name("shop", comment="Bike sales", schemas=["public"]) == "shop"
    assert database_name("postgres", comment="Bike sales", schemas=["public"]) == "Bike sales"
    long = "All that the shops of the north sold since they were opened."
    assert database_name("db", comment=long, schemas=["sales"]) == "sales"
    assert database_name("db", comment="", schemas=["sales", "stock"]) == "db"
    default = "default administrative connection database"
    assert database_name("postgres", comment=default, schemas=["public"]) == "postgres"


def test_a_server_s_database_is_called_by_the_comment_on_it(postgres: Any) -> None:
    assert says_nothing(postgres.name)
    postgres.run(
        "CREATE TABLE public.t (a INT); COMMENT ON DATABASE " + postgres.name + " IS 'Bike sales'"
    )
    with open_source(postgres.uri) as source:
        assert source.name == "Bike sales"


def test_the_user_names_the_source(tmp_path: Path) -> None:
    with open_source(str(csv_in(tmp_path / "data")), name="  Bike   sales ") as source:
        assert source.name == "Bike sales"


@pytest.mark.parametrize("name", ["", "  ", "--", "a\x07b", "a\u202eb", "x" * 81])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        check_name(name)
