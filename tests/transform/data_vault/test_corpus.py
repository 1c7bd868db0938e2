"""Real databases, without a declared key: loaded twice, and given back to the last row."""

from datetime import timedelta

from fluid_build.transform.plan.execution import FIRST_LOAD, built
from fluid_build.transform.plan.techniques import transform_plan
from tests.shared import CORPUS, on_databases
from tests.transform.data_vault.vaults import Vault
from tests.transform.databases import modelled


# The larger ones take minutes together and are measured by the benchmark.
@on_databases(
    "broker jaffle_shop oracle_co pubs",
    thorough="adventureworks_lt car_dealership chinook department_store derm_treatment northwind"
    " sakila world",
)
def test_a_real_database_is_rebuilt_completely(name: str) -> None:
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
