"""What a product is called when its folder is forged again."""

import pytest

from fluid_build.forging.recorded import given_name
from fluid_build.transform.proof.manifest import Manifest, ManifestSource


@pytest.mark.parametrize(
    ("name", "kind", "place", "given"),
    [
        ("library", "postgres", "postgresql://host/books", "library"),
        ("books", "sqlite", "data/books.db", None),
        ("library", "sqlite", "data/books.db", "library"),
    ],
)
def test_a_name_is_kept_where_the_source_would_give_another(
    name: str, kind: str, place: str, given: str | None
) -> None:
    source = ManifestSource.model_validate({"kind": kind, "location": place})
    manifest = Manifest(technique="flat", source=source)
    assert given_name(name, manifest, {"": place}) == given
