"""AWS Glue, on a stand-in server for AWS."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fluid_build.errors import (
    EmptySourceError,
    SourceNotFoundError,
    SourceUnreachableError,
    UsageError,
)
from fluid_build.sources import open_source
from fluid_build.sources.declarations.catalog_facts import CatalogOwner
from tests.sources.catalogs.glue_server import (
    REGION,
    add_table,
    client,
    column,
    glue_server,
    make_database,
    make_shop,
)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with glue_server() as address:
        make_shop(address)
        yield address


@pytest.fixture(autouse=True)
def aws(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The login of the test and no other: neither a profile nor a machine's role."""
    for variable in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    for field, value in {
        "endpoint": server,
        "access_key_id": "testing",
        "secret_access_key": "testing-secret",
    }.items():
        monkeypatch.setenv(f"FLUID_CREDENTIAL_AWS_{field.upper()}", value)
    return server


def test_tables_have_their_columns_partitions_keys_and_comments() -> None:
    with open_source(f"glue://{REGION}/shop?login=aws") as source:
        customers, orders = source.tables
        assert source.has_data is False
        assert (source.name, customers.name, orders.name) == ("shop", "customers", "orders")
        assert [(c.name, c.type) for c in orders.columns] == [
            ("order_id", "BIGINT"),
            ("customer_id", "BIGINT"),
            ("amount", "DECIMAL(10,2)"),
            ("day", "DATE"),
        ]
        assert orders.primary_key == ("order_id",)
        assert (orders.comment, orders.columns[0].comment) == ("Every order", "Its number")


def test_tags_owners_and_domains_come_from_lake_formation_and_parameters() -> None:
    with open_source(f"glue://{REGION}/shop?login=aws") as source:
        assert source.catalog is not None
        facts = source.catalog.facts
    assert facts.declared_owner == CatalogOwner("Order desk")
    assert facts.declared_domain == "Sales"
    assert facts.tables["orders"].tags == ("team:Order desk",)
    assert facts.tables["customers"].column_tags == {"mailbox": ("pii",)}


def test_hive_and_iceberg_types_become_duckdbs(aws: str) -> None:
    make_database(aws, "types")
    former = {"iceberg.field.current": "false"}
    add_table(
        aws,
        "types",
        "everything",
        Parameters={"table_type": "ICEBERG"},
        columns=[
            column("id", "int", Parameters={"iceberg.field.optional": "false"}),
            column("gone", "string", Parameters=former),
            column("lines", "array<struct<sku:string,n:tinyint>>"),
            column("weights", "map<string,double>"),
            column("at", "timestamp"),
            column("odd name", "struct<`a b`:int>"),
            column("unknown", "a type of its own"),
        ],
    )
    with open_source(f"glue://{REGION}/types?login=aws") as source:
        (everything,) = source.tables
    assert [(c.name, c.type) for c in everything.columns] == [
        ("id", "INTEGER"),
        ("lines", "STRUCT(sku VARCHAR, n TINYINT)[]"),
        ("weights", "MAP(VARCHAR, DOUBLE)"),
        ("at", "TIMESTAMP"),
        ("odd name", 'STRUCT("a b" INTEGER)'),
        ("unknown", "VARCHAR"),
    ]
    assert everything.columns[0].nullable is False
    assert "isn't known and is read as text" in everything.columns[-1].notes[0]


def test_hostile_names_and_comments_stay_what_they_are(aws: str) -> None:
    make_database(aws, "odd")
    add_table(
        aws,
        "odd",
        'a"b; DROP TABLE x',
        Description="\x1b[2Jred",
        Parameters={"primary_key": 'id",no'},
        columns=[
            column('i"d', "int"),
            column("日本", "string"),
            column("ID", "int"),
            column("id", "int"),
        ],
    )
    client("glue", aws).create_table(
        DatabaseName="odd", TableInput={"Name": "nothing", "StorageDescriptor": {"Columns": []}}
    )
    with open_source(f"glue://{REGION}/odd?login=aws") as source:
        (table,) = source.tables
        assert table.name == 'a"b; DROP TABLE x'
        assert [c.name for c in table.columns] == ['i"d', "日本", "ID", "id"]
        assert table.primary_key == ()
        assert table.comment == "[2Jred"
        assert source.relation(table).fetchall() == []
        assert [skipped.name for skipped in source.skipped] == ["odd.nothing"]


def test_several_databases_are_schemas_that_globs_choose(aws: str) -> None:
    with open_source(f"glue://{REGION}?login=aws", schemas=["sh*"]) as source:
        assert [table.name for table in source.tables] == ["customers", "orders"]
    with open_source(
        f"glue://{REGION}?login=aws", include=["SHOP.*"], exclude=["*.cust*"]
    ) as source:
        assert [table.name for table in source.tables] == ["orders"]
    with pytest.raises(EmptySourceError, match="AWS Glue shows no table there"):
        open_source(f"glue://{REGION}?login=aws", schemas=["none*"])


def test_a_profile_of_aws_is_a_credential(aws: str, tmp_path: Path) -> None:
    """A name that nothing else knows is looked up among the profiles of AWS's own tools."""
    (tmp_path / "config").write_text(
        f"[profile team]\nregion = {REGION}\nendpoint_url = {aws}\n"
        "aws_access_key_id = testing\naws_secret_access_key = testing\n"
    )
    with open_source("glue:///shop?login=team") as source:
        assert len(source.tables) == 2


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        (f"glue://{REGION}/nothing?login=aws", SourceNotFoundError, "Database nothing not found"),
        (f"glue://{REGION}/shop?login=nobody", UsageError, "no credential nobody"),
        (f"glue://{REGION}/shop", SourceUnreachableError, "no complete AWS login"),
        ("glue:///shop?login=aws", UsageError, "region of the Glue catalog isn't known"),
        (f"glue://key:secret@{REGION}/shop", UsageError, "holds no login"),
        (f"glue://{REGION}/shop/orders", UsageError, "too many parts"),
        (f"glue://{REGION}/shop?endpoint=http://evil", UsageError, "unknown parameter 'endpoint'"),
    ],
)
def test_what_cannot_be_read_says_why(address: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as raised:
        open_source(address)
    assert "testing-secret" not in str(raised.value)
