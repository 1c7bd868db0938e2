"""The API as a user would write against it, for the type checker: strict must pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import duckdb

import fluid_build as fluid
from fluid_build.decisions.language import SetKey


def profiling(frame: fluid.api.arguments.ArrowTable) -> dict[str, Any]:
    profile = fluid.profile("shop.db", schemas=["sales"], decimal=",", sample=1000)
    assert_type(profile, fluid.ProfileResult)
    orders: fluid.ProfiledTable = profile.tables["orders"]
    assert_type(orders.primary_key, tuple[str, ...] | None)
    column: fluid.ColumnProfile = orders.columns["total"]
    evidence: fluid.Evidence | None = orders.primary_key_evidence
    orphans: list[int] = [key.evidence.orphans for key in profile.foreign_keys]
    fluid.profile({"orders": frame, "old": duckdb.sql("SELECT 1 AS id")}, memory_limit="2GB")
    fluid.profile([Path("crm.db"), "shop.db"], on_progress=fluid.show_progress())
    fluid.profile({"crm": "crm.db", "web": {"visits": frame}})
    assert evidence is not None
    assert orphans
    assert column.nulls
    return profile.to_dict()


def forging(out: Path) -> bool:
    decision = SetKey(table="orders", columns=("order_id",), reason="They are numbered.")
    forged = fluid.forge(
        "postgresql://localhost/shop",
        technique="dimensional",
        decisions=[decision, {"decision": "owner", "team": "sales"}],
        event_dates={"orders": "shipped_on"},
        fiscal_year_start=7,
    )
    assert_type(forged, fluid.ForgeResult)
    proof: fluid.Proof = forged.proof
    contract: fluid.FluidContract = forged.contract
    model: fluid.LogicalModel = forged.model
    verdicts: tuple[fluid.Verdict, ...] = forged.verdicts
    files: tuple[Path, ...] = forged.save(out, overwrite=True)
    assert model.name
    assert verdicts
    assert files
    return proof.holds and fluid.validate(contract).valid


def checking(out: Path) -> list[str]:
    verified: fluid.VerifyResult = fluid.verify(out, source="shop.db")
    warehouse: fluid.WarehouseResult = fluid.verify_warehouse(out, "warehouse.duckdb")
    tested: fluid.TestResult = fluid.test(out / "contract.fluid.yaml", "warehouse.duckdb")
    failed: tuple[fluid.CheckResult, ...] = tested.failed
    assert verified
    assert warehouse
    return [check.id for check in failed]


def reusing() -> None:
    def on_progress(report: fluid.Progress) -> None:
        assert report.total >= report.done

    with fluid.open("shop.csv", on_progress=on_progress) as source:
        assert_type(source, fluid.Source)
        fluid.profile(source)
        fluid.forge(source, technique="dv2")


def refusing() -> str:
    try:
        fluid.profile("none.db")
    except fluid.SourceNotFoundError as error:
        return error.hint or error.message
    except fluid.FluidError:
        raise
    return ""
