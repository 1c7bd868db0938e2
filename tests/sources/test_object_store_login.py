"""Logging in to an object store: the user's stored secret first, then the environment."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from fluid_build.sources.engine.connection import starting
from fluid_build.sources.engine.extensions import AWS, AZURE, HTTPFS
from fluid_build.sources.files.remote.object_store_login import log_in


@pytest.fixture
def connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection without any login of the developer's."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for variable in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
        monkeypatch.delenv(variable, raising=False)
    with starting(extensions=(AWS, AZURE, HTTPFS)) as engine:
        engine.connection.execute(f"SET secret_directory = '{tmp_path / 'secrets'}'")
        yield engine.connection
        engine.close()


def secrets(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str, bool]]:
    rows = connection.execute("SELECT name, type, persistent FROM duckdb_secrets()").fetchall()
    return [(name, type_, persistent) for name, type_, persistent in rows]


@pytest.mark.parametrize(
    ("url", "type_", "variables"),
    [
        ("s3://b/x", "s3", {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "it's"}),
        ("gs://b/x", "gcs", {"GCS_HMAC_KEY_ID": "key", "GCS_HMAC_SECRET": "it's"}),
        (
            "az://c/x",
            "azure",
            {
                "AZURE_STORAGE_CONNECTION_STRING": "DefaultEndpointsProtocol=https;"
                "AccountName=a;AccountKey=aXQncyBh;EndpointSuffix=core.windows.net"
            },
        ),
        ("abfss://c@a.dfs.core.windows.net/x", "azure", {"AZURE_STORAGE_ACCOUNT": "a"}),
    ],
)
def test_the_environment_of_the_clouds_tools_logs_in(
    connection: duckdb.DuckDBPyConnection,
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    type_: str,
    variables: dict[str, str],
) -> None:
    """For one connection, in memory."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    log_in(connection, url, type_)
    assert secrets(connection) == [(f"fluid_{type_}", type_, False)]


def test_a_stored_secret_goes_first(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be scoped to the bucket, and the environment's isn't."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    connection.execute(
        "CREATE PERSISTENT SECRET own (TYPE s3, KEY_ID 'k', SECRET 's', SCOPE 's3://mine')"
    )
    log_in(connection, "s3://mine/x", "s3")
    assert secrets(connection) == [("own", "s3", True)]
    log_in(connection, "s3://other/x", "s3")
    assert ("fluid_s3", "s3", False) in secrets(connection)


def test_without_a_login_public_files_can_be_read(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The region and the server count all the same."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://minio:9000")
    log_in(connection, "s3://b/x", "s3")
    (text,) = connection.execute("SELECT secret_string FROM duckdb_secrets()").fetchone() or ("",)
    assert "endpoint=minio:9000" in text and "use_ssl=false" in text and "url_style=path" in text
    for url, type_ in (("gs://b/x", "gcs"), ("az://c/x", "azure"), ("https://h/x", "http")):
        log_in(connection, url, type_)
    assert [type_ for _, type_, _ in secrets(connection)] == ["s3"]
