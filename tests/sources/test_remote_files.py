"""Files in an object store and on a web server: read once, like files of this machine."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from fluid_build.errors import (
    EmptySourceError,
    SourceError,
    SourceNotFoundError,
    SourceUnreachableError,
    SourceUnreadableError,
    UsageError,
)
from fluid_build.sources import open_source
from fluid_build.sources.files.remote.source import Mirror
from tests.sources.remote_shop import count_rows, write_shop
from tests.sources.remote_shop import web as web
from tests.sources.web_server import web_server

if TYPE_CHECKING:
    from tests.sources.object_store import ObjectStore


def test_a_prefix_is_read_like_a_folder(s3: "ObjectStore", tmp_path: Path) -> None:
    """Every format, hive partitions and monthly files."""
    url = s3.upload(write_shop(tmp_path / "shop"), "lake", "raw/shop")
    with open_source(url) as source:
        assert count_rows(source) == {"customers": 2, "events": 1, "orders": 2, "sales": 2}
        orders = next(table for table in source.tables if table.name == "orders")
        assert [column.name for column in orders.columns] == ["id", "amount", "year"]
        assert (source.kind, source.name, source.skipped) == ("s3", "shop", ())
        assert (
            source.notes == ("6 remote files of 1.0 kB in all.",)
            or "6 remote files" in (source.notes[0])
        )


@pytest.mark.parametrize(
    ("place", "tables"),
    [
        ("one/customers.csv", ["customers"]),
        ("one/", ["customers", "orders"]),
        ("one/*.csv", ["customers"]),
        ("one/**/*.parquet", ["0"]),
    ],
)
def test_a_file_a_folder_and_a_glob(
    s3: "ObjectStore", tmp_path: Path, place: str, tables: list[str]
) -> None:
    """Each names what it does on a disk."""
    (tmp_path / "orders").mkdir()
    (tmp_path / "customers.csv").write_text("id,name\n1,a\n")
    duckdb.sql("SELECT 1 AS id").write_parquet(str(tmp_path / "orders" / "0.parquet"))
    s3.upload(tmp_path, "lake", "one")
    with open_source(f"s3://lake/{place}") as source:
        assert [table.name for table in source.tables] == tables


def test_a_folder_that_is_named_like_a_file_is_read(s3: "ObjectStore") -> None:
    """Spark writes one for each table."""
    for part in ("part-0", "part-1"):
        s3.client.put_object(Bucket="lake", Key=f"spark/t.csv/{part}.csv", Body="a,b\n1,2\n")
    with open_source("s3://lake/spark/t.csv") as source:
        assert count_rows(source) == {"t.csv": 2}


def test_hostile_keys_stay_inside_of_the_private_folder(s3: "ObjectStore", temporary: Path) -> None:
    """What no local file can be called is skipped and named; odd characters are read."""
    bodies = {
        "odd/../../evil.csv": b"a,b\n1,2\n",
        "odd//twice.csv": b"a,b\n1,2\n",
        "odd/back\\slash.csv": b"a,b\n1,2\n",
        "odd/ü b%20[1]+'.csv": b"a,b\n1,2\n",
        "odd/_hidden.csv": b"a,b\n1,2\n",
        "odd/broken.parquet": b"PAR1",
    }
    for key, body in bodies.items():
        s3.client.put_object(Bucket="lake", Key=key, Body=body)
    with open_source("s3://lake/odd") as source:
        assert count_rows(source) == {"ü b%20[1]+'": 1}
        skipped = {entry.name for entry in source.skipped}
        assert skipped == {"broken", "../../evil.csv", "/twice.csv", "back\\slash.csv"}
        assert not list(temporary.parent.glob("evil.csv"))


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        ("s3://no-such-bucket/x", SourceNotFoundError, "bucket of s3://no-such-bucket/x doesn't"),
        ("s3://lake/nothing-here", SourceNotFoundError, "no data file at s3://lake/nothing-here"),
        ("s3://lake/no.csv", SourceNotFoundError, "no data file at s3://lake/no.csv"),
        ("s3://lake/none-*.csv", SourceNotFoundError, "no data file at"),
        ("s3:///x", UsageError, "names no bucket"),
    ],
)
def test_what_is_not_there_is_said(
    s3: "ObjectStore", url: str, error: type[SourceError], message: str
) -> None:
    """Each failure has its own sentence."""
    with pytest.raises(error, match=message):
        open_source(url)


def test_a_server_that_is_down_is_said(s3: "ObjectStore", monkeypatch: pytest.MonkeyPatch) -> None:
    """It isn't taken for an empty bucket."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(SourceUnreachableError, match=r"s3://lake/x can't be reached"):
        open_source("s3://lake/x")


@pytest.mark.parametrize(
    ("path", "table"),
    [
        ("/customers.csv", "customers"),
        ("/customers.csv?version=2", "customers"),
        ("/moved.csv", "moved"),
        ("/orders/year%3D2024/0.parquet", "0"),
    ],
)
def test_a_file_on_the_web_is_read(web: str, path: str, table: str) -> None:
    """Redirects are followed; a query isn't part of the name."""
    with open_source(web + path) as source:
        assert list(count_rows(source)) == [table]
        assert source.kind == "http"


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("/nothing.csv", SourceNotFoundError, "no data file at"),
        ("/denied.csv", SourceError, "denied"),
        ("/half.csv", SourceUnreadableError, "could not be read"),
        ("/orders/", UsageError, "isn't one file"),
        ("/*.csv", UsageError, "isn't one file"),
        ("/customers", SourceError, "customers"),
    ],
)
def test_a_web_server_that_refuses_is_said(
    web: str, path: str, error: type[SourceError], message: str
) -> None:
    """What is missing, refused, cut short, or no file."""
    with pytest.raises(error, match=message):
        open_source(web + path)


def test_a_certificate_that_nobody_trusts_is_said_and_can_be_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SSL_CERT_FILE names the company's own."""
    certificate = tmp_path / "own.pem"
    request = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
        f" -addext subjectAltName=DNS:localhost -keyout {certificate}"
        f" -out {tmp_path / 'public.pem'}"
    )
    subprocess.run(request.split(), check=True, capture_output=True)
    with certificate.open("a") as file:
        file.write((tmp_path / "public.pem").read_text())
    with web_server(write_shop(tmp_path / "shop"), certificate) as url:
        with pytest.raises(SourceUnreachableError, match="certificate that isn't trusted"):
            open_source(f"{url}/customers.csv")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "public.pem"))
        with open_source(f"{url}/customers.csv") as source:
            assert count_rows(source) == {"customers": 2}


@pytest.mark.parametrize(
    "query",
    [
        "X-Amz-Credential=AKIAIOSFODNN7EXAMPLE&X-Amz-Signature=5ecre7",
        "sv=2024&se=2030&sig=5ecre7%3D",
        "access_token=5ecre7",
    ],
)
def test_a_signed_url_is_read_and_its_secret_shown_nowhere(web: str, query: str) -> None:
    """Neither in the source nor in an error."""
    with open_source(f"{web}/customers.csv?{query}") as source:
        assert count_rows(source) == {"customers": 2}
        assert "5ecre7" not in f"{source.name} {source.notes} {source.opened_as}"
    with pytest.raises(SourceNotFoundError) as caught:
        open_source(f"{web}/nothing.csv?{query}")
    assert "5ecre7" not in f"{caught.value} {caught.value.hint}"


def test_a_bucket_without_tables_says_so(s3: "ObjectStore") -> None:
    """Files that aren't data are named."""
    s3.client.put_object(Bucket="lake", Key="docs/readme.md", Body="x")
    with pytest.raises(EmptySourceError, match="no data files"):
        open_source("s3://lake/docs")


def test_tables_that_are_not_chosen_are_not_fetched(
    s3: "ObjectStore", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is read is chosen by name before it's read."""
    url = s3.upload(write_shop(tmp_path / "shop"), "lake", "chosen")
    fetched: list[str] = []
    real = Mirror.fetch

    def fetch(mirror: Mirror, paths: Sequence[Path]) -> None:
        fetched.extend(path.name for path in paths)
        real(mirror, paths)

    monkeypatch.setattr(Mirror, "fetch", fetch)
    with open_source(url, include=["customers"]) as source:
        assert count_rows(source) == {"customers": 2}
        assert source.notes[0].startswith("1 of 6 remote files makes its tables: ")
    assert set(fetched) == {"customers.csv", "sales_2024_01.csv", "sales_2024_02.csv"}


def test_a_file_that_changes_or_goes_while_it_is_read_costs_only_itself(
    s3: "ObjectStore", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program may clean up between listing and reading."""
    for name in ("a", "b"):
        s3.client.put_object(Bucket="lake", Key=f"going/{name}.csv", Body="id,v\n1,a\n")
    real = Mirror.lay_out

    def lay_out(mirror: Mirror) -> None:
        real(mirror)
        s3.client.delete_object(Bucket="lake", Key="going/b.csv")

    monkeypatch.setattr(Mirror, "lay_out", lay_out)
    with open_source("s3://lake/going") as source:
        assert count_rows(source) == {"a": 1}
        (skipped,) = source.skipped
        assert (skipped.name, "404" in skipped.reason) == ("b", True)


def test_small_files_are_fetched_together(s3: "ObjectStore") -> None:
    """Two hundred parts are one table."""
    for number in range(200):
        body = f"id,v\n{number},a\n"
        s3.client.put_object(Bucket="lake", Key=f"many/parts/{number}.csv", Body=body)
    with open_source("s3://lake/many") as source:
        assert count_rows(source) == {"parts": 200}


def test_a_text_file_that_memory_cannot_hold_is_said(s3: "ObjectStore", tmp_path: Path) -> None:
    """DuckDB fetches a file in one piece; Parquet is read in parts."""
    s3.client.put_object(Bucket="lake", Key="large/a.csv", Body=b"id,v\n" + b"1,a\n" * 50_000_000)
    duckdb.sql("SELECT 1 AS id").write_parquet(str(tmp_path / "b.parquet"))
    s3.client.upload_file(str(tmp_path / "b.parquet"), "lake", "large/b.parquet")
    with open_source("s3://lake/large", memory_limit="150MB") as source:
        assert count_rows(source) == {"b": 1}
        (skipped,) = source.skipped
        assert skipped.name == "a"
        assert "200.0 MB don't fit in the memory limit" in skipped.reason
        assert "FLUID_MEMORY_LIMIT" in skipped.reason
