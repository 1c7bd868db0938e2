"""A forge into a folder writes the next version of the contract there, with its reason."""

from pathlib import Path
from typing import Any

import pytest

import fluid_build
from fluid_build.contract.exports.formats import export
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.read.files import read_contract
from fluid_build.contract.validation import parse_contract
from fluid_build.contract.write.from_model import contract_from_model
from fluid_build.contract.write.yaml_text import as_document
from fluid_build.forging.contract_version import EarlierContract, continued
from fluid_build.modeling.techniques import build_model
from fluid_build.transform.plan.techniques import transform_plan
from tests.modeling.evolved import SHOP, run
from tests.modeling.profiles import column, profile, reference, table

ADDED = ("ALTER TABLE customers ADD COLUMN segment VARCHAR",)


class Folder:
    """A shop and the folder that it's forged into, again and again."""

    def __init__(self, place: Path, technique: str) -> None:
        self.shop, self.out, self.technique = place / "shop.duckdb", place / "out", technique
        run(self.shop, SHOP)

    def forge(self, *changes: str, **settings: Any) -> Any:
        run(self.shop, changes)
        return fluid_build.forge(str(self.shop), technique=self.technique, out=self.out, **settings)

    @property
    def contract(self) -> Any:
        return read_contract(self.out / "contract.fluid.yaml")

    @property
    def versions(self) -> set[str]:
        return {expose["version"] for expose in self.contract["exposes"]}

    def write_version(self, old: str, new: str) -> None:
        file = self.out / "contract.fluid.yaml"
        file.write_text(file.read_text().replace(f"version: '{old}'", f"version: '{new}'"))


@pytest.fixture(params=["flat", "dv2", "dimensional"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    return Folder(tmp_path, request.param)


def test_what_is_added_makes_a_minor_version(folder: Folder) -> None:
    folder.forge()
    assert folder.versions == {"0.1.0"}
    changed = folder.forge(*ADDED)
    assert folder.versions == {"0.2.0"}
    reason = folder.contract["labels"]["version-reason"]
    assert reason.startswith("minor since 0.1.0: ")
    assert any(
        "The contract's version is 0.2.0, and was 0.1.0. Minor: " in n for n in changed.notes
    )
    folder.forge()
    assert folder.versions == {"0.2.0"}
    assert folder.contract["labels"]["version-reason"] == reason


def test_rows_that_come_and_go_keep_the_version(folder: Folder) -> None:
    """Orders without their customer and other figures of the day are no promise."""
    folder.forge()
    changed = folder.forge(
        "DELETE FROM customers WHERE customer_id % 7 = 0",
        "INSERT INTO customers SELECT 900 + i, 'New ' || i, 'City 3', 'N' FROM range(9) t(i)",
    )
    assert changed.proof.verdict == "proven"
    assert folder.versions == {"0.1.0"}
    assert "version-reason" not in (folder.contract["labels"] or {})


def test_a_broken_promise_makes_a_major_version(folder: Folder) -> None:
    """A column that was never null is null."""
    folder.forge()
    folder.forge(
        "ALTER TABLE customers ALTER COLUMN city DROP NOT NULL",
        "UPDATE customers SET city = NULL WHERE customer_id = 3",
    )
    assert folder.versions == {"1.0.0"}


def test_a_link_that_is_loaded_no_more_makes_a_major_version(tmp_path: Path) -> None:
    """Orders are a hub, so no column of theirs is gone and no rule of the link."""
    folder = Folder(tmp_path, "dv2")
    folder.forge(
        "ALTER TABLE orders ADD COLUMN product_id INTEGER",
        "UPDATE orders SET product_id = 1 + order_id * 7 % 40",
    )
    assert "lnk_orders" in {expose["exposeId"] for expose in folder.contract["exposes"]}
    changed = folder.forge("ALTER TABLE orders DROP COLUMN product_id")
    assert folder.versions == {"1.0.0"}
    reason = folder.contract["labels"]["version-reason"]
    assert reason == "major since 0.1.0: lnk_orders, eff_sat_orders are loaded no more"
    assert any("loaded no more" in note for note in changed.notes)


@pytest.mark.parametrize(
    ("breaks", "holds"),
    [
        ("company = 'Company 1'", "company = 'Company 2'"),
        ("company = NULL", "company = 'Company 2'"),
        ("region_code = 'X'", "region_code = 'S'"),
    ],
)
def test_a_promise_is_broken_once(tmp_path: Path, breaks: str, holds: str) -> None:
    """What holds again isn't promised again: readers aren't told the same every other night."""
    folder = Folder(tmp_path, "dimensional")
    row = "UPDATE customers SET {} WHERE customer_id = 2"
    folder.forge("ALTER TABLE customers ALTER company DROP NOT NULL")
    folder.forge(row.format(breaks))
    broken = folder.versions
    for change in (holds, breaks, holds):
        folder.forge(row.format(change))
        assert folder.versions == broken


def test_a_higher_version_that_somebody_wrote_is_respected(folder: Folder) -> None:
    """It stays while nothing changes, and what comes counts from there."""
    folder.forge()
    folder.write_version("0.1.0", "2.3.0")
    folder.forge()
    assert folder.versions == {"2.3.0"}
    folder.forge(*ADDED)
    assert folder.versions == {"2.4.0"}
    folder.forge()
    assert folder.versions == {"2.4.0"}


def test_a_lower_version_that_somebody_wrote_is_not(folder: Folder) -> None:
    folder.forge()
    folder.forge(*ADDED)
    folder.write_version("0.2.0", "0.0.3")
    folder.forge("ALTER TABLE customers ADD COLUMN size_class VARCHAR")
    assert folder.versions == {"0.3.0"}


def test_edits_of_a_person_are_no_change_of_the_source(folder: Folder) -> None:
    """They stay, and the version with them."""
    folder.forge()
    file = folder.out / "contract.fluid.yaml"
    file.write_text(file.read_text().replace("team: unassigned", "team: sales"))
    folder.forge()
    assert folder.versions == {"0.1.0"}
    assert folder.contract["metadata"]["owner"]["team"] == "sales"


def test_every_format_has_the_version(folder: Folder) -> None:
    folder.forge()
    folder.forge(*ADDED)
    contract = parse_contract(folder.contract)
    assert export(contract, "odcs").document["version"] == "0.2.0"
    assert export(contract, "dcs").document["info"]["version"] == "0.2.0"


def test_a_contract_that_cannot_be_read_is_kept_as_a_whole(folder: Folder) -> None:
    """There is no version to go on from."""
    folder.forge()
    (folder.out / "contract.fluid.yaml").write_text("exposes: [")
    assert folder.forge(*ADDED).contract.exposes[0].version == "0.1.0"
    assert (folder.out / "contract.fluid.yaml").read_text() == "exposes: ["


@pytest.mark.parametrize(
    ("before", "now", "limit"), [(20, 3, 0.5), (20, 1, 0.95), (3, 20, 0.5), (20, 0, None)]
)
def test_the_next_contract_keeps_a_limit_that_fits(
    before: int, now: int, limit: float | None
) -> None:
    """It's looser where more is broken, and tighter where ten times as much would be allowed."""
    earlier = EarlierContract(as_document(_with_orphans(before)), "0.1.0")
    change = continued(_with_orphans(now), earlier)
    assert change is not None
    (rule,) = [each for each in change.contract.exposes[0].rules if each.type == "accuracy"]
    assert rule.threshold == limit
    assert change.version.next == "0.1.0"


def _with_orphans(orphans: int) -> FluidContract:
    """Return the contract of 100 orders, some of which have no customer."""
    shop = profile(
        table("orders", column("id"), column("customer")),
        table("customers", column("id"), primary_key=("id",)),
        foreign_keys=[reference("orders", "customer", "customers", "id", orphans=orphans)],
    )
    model = build_model(shop)
    return contract_from_model(shop, model, transform_plan(model))
