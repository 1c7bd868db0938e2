"""Real databases, without a declared key: loaded twice, and given back to the last row."""

from datetime import timedelta
from pathlib import Path

import pytest

from fluid_build.transform.plan.execution import FIRST_LOAD, built
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.data_vault.vaults import Vault
from tests.transform.databases import modelled

CORPUS = Path(__file__).parents[4] / "shared" / "corpus"
# The larger ones take minutes together and are measured by the benchmark.
DATABASES = (
    "adventureworks_lt broker car_dealership chinook department_store derm_treatment jaffle_shop"
    " northwind oracle_co pubs sakila world"
).split()


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not beside the repository")
@pytest.mark.parametrize("name", DATABASES)
def test_a_real_database_is_given_back_whole(name: str) -> None:
    """Every table is rebuilt from the vault alone, every test holds, and loading is idempotent."""
    with modelled(CORPUS / name / "data", "data_vault_2") as shop:
        shop.source.connection.execute("SET threads = 1")
        plan = transform_plan(shop.model)
        with built(shop.source, plan) as result:
            vault = Vault(shop.model, plan, result)
            assert vault.broken() == {}
            before = vault.sizes()
            result.load(FIRST_LOAD + timedelta(days=1))
            assert vault.sizes() == before
            assert vault.lost() == {}
