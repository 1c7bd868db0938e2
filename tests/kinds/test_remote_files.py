"""Remote files, proven while the source is open."""

from pathlib import Path
from typing import TYPE_CHECKING

from fluid_build.sources.combined import SourceRequest, open_several
from fluid_build.sources.uri import locate
from fluid_build.transform.proof.delimited_text import prove_text
from tests.sources.remote_shop import count_rows
from tests.sources.remote_shop import web as web

if TYPE_CHECKING:
    from tests.sources.object_store import ObjectStore


def test_remote_sources_are_read_together(s3: "ObjectStore", web: str, tmp_path: Path) -> None:
    """The proof and dbt need the files for as long as the whole is open."""
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "orders.csv").write_text("id,v\n1,a\n")
    url = s3.upload(tmp_path / "one", "lake", "together")
    requests = [SourceRequest(locate(place)) for place in (url, f"{web}/customers.csv")]
    with open_several(requests) as source:
        assert count_rows(source) == {"together.orders": 1, "customers.customers": 2}
        assert prove_text(source, source.tables[0]) is not None
