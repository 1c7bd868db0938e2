"""References by a column that repeats its row's own key."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.modeling.data_vault.elements import DataVaultModel
from fluid_build.modeling.techniques import build_model
from fluid_build.observations.observe import observe
from fluid_build.observations.repeated_references import RepeatedReference
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source

_SHOPS = """
    CREATE TABLE shop AS
    SELECT i AS shop_id, i AS shop_number, 'Shop ' || i AS shop_name, 'City ' || i % 9 AS city
    FROM range(25) AS t(i);
    CREATE TABLE shop_copy AS
    SELECT i AS shop_id, {number} AS shop_number, 'Shop ' || i AS shop_name, i % 12 AS region_id,
      DATE '2020-01-01' + CAST(i * 40 AS INTEGER) AS opened_on, 'Owner ' || i AS owner
    FROM range(25) AS t(i);
    CREATE TABLE region AS
    SELECT i AS region_id, 'Region ' || i AS region_name, 'Land ' || i % 5 AS land, i % 7 AS size
    FROM range(12) AS t(i);
    CREATE TABLE sale AS
    SELECT i AS sale_id, i * 7 % 25 AS shop_id, i % 90 AS amount FROM range(400) AS t(i)
"""


def _forged(folder: Path, number: str) -> tuple[tuple[RepeatedReference, ...], DataVaultModel]:
    database = folder / "shops.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(_SHOPS.format(number=number))
    with open_source(str(database)) as source:
        profile = profile_source(source)
        observations = observe(source, profile)
        model = build_model(profile, "data_vault_2", observations=observations).dv2
    assert model is not None
    return observations.repeated_references, model


def test_a_number_that_is_the_key_in_every_row_links_nothing(tmp_path: Path) -> None:
    """A shop isn't linked with itself, nor with the copy that shares its hub."""
    repeated, model = _forged(tmp_path, "i")
    assert repeated
    assert {(each.column, each.key, each.rows) for each in repeated} == {
        ("shop_number", "shop_id", 25)
    }
    assert [link.name for link in model.links if "shop_copy" in link.mapped_source_tables] == [
        "lnk_shop_copy_region"
    ]


@pytest.mark.parametrize("number", ["(i + 1) % 25", "CASE WHEN i = 3 THEN 4 ELSE i END"])
def test_a_number_that_differs_in_a_row_relates_it_to_another(tmp_path: Path, number: str) -> None:
    repeated, _ = _forged(tmp_path, number)
    assert not [each for each in repeated if each.table == "shop_copy"]
