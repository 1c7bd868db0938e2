"""SQL Server, forged: dbt can't reach it, and reads copies."""

from pathlib import Path

from fluid_build.forging import forge
from fluid_build.sources import open_source
from tests.sources.recorded_client import RecordedClient
from tests.sources.sqlserver_shop import DSN
from tests.sources.sqlserver_shop import client as client


def test_a_forge_copies_the_rows_for_dbt_and_proves_them(
    client: RecordedClient, tmp_path: Path
) -> None:
    """The project reads copies, because DuckDB can't attach the server; no password is written."""
    with open_source(DSN) as source:
        forged = forge(source, out=tmp_path / "shop")
    assert forged.proof.verdict == "proven"
    assert sorted(path.name for path in (tmp_path / "shop/dbt/land").iterdir()) == [
        "customer.parquet",
        "order_.parquet",
    ]
    files = [path for path in (tmp_path / "shop").rglob("*") if path.is_file()]
    written = "".join(file.read_text() for file in files if file.suffix != ".parquet")
    assert "can't attach a SQL Server database" in written
    assert "s3cr" not in written
