"""The proof turns red on every wrong reading of text, whoever made it, in every technique."""

from pathlib import Path

import pytest

from fluid_build.errors import FluidError
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile
from fluid_build.sources import open_source
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.building import build_and_prove
from tests.transform.test_exact_readings import LONG_NUMBERS, to_duckdb

WRONG = {
    "tracking numbers": (LONG_NUMBERS["22 digits"], "DOUBLE"),
    "ids of 19 digits": (LONG_NUMBERS["19 digits"], "DOUBLE"),
    "ICCIDs": (LONG_NUMBERS["ICCIDs"], "DOUBLE"),
    "long amounts": (LONG_NUMBERS["long amounts"], "DOUBLE"),
    "many decimals": (LONG_NUMBERS["many decimals"], "DECIMAL(38,10)"),
    "decimals as whole numbers": (["1.25", "2.75", "3.50"], "BIGINT"),
    "letters and digits": (["61E8", "12E3", "45E1"], "DOUBLE"),
    "versions": (["1.1", "1.10", "1.2"], "DOUBLE"),
    "a version beside its first": (["5", "5.0", "5.1"], "DOUBLE"),
    "account numbers": (["0012345678", "1234567890"], "BIGINT"),
    "one word": (["NO", "NO", "NO"], "BOOLEAN"),
    "another day": (["2024-01-31", "2024-02-01"], "DATE (%Y-%d-%m)"),
    "a year of two digits": (["01.02.1924", "03.04.1924"], "DATE (%d.%m.%y)"),
}


def misread(profile: Profile, type_: str, *, reversible: bool) -> Profile:
    """A profile that says of its second column that it's of that type."""
    (table,) = profile.tables
    first, second = table.columns
    wrong = second.model_copy(
        update={"measured_type": type_, "reversible": reversible, "semantic_type": None}
    )
    columns = (first, wrong)
    return profile.model_copy(update={"tables": (table.model_copy(update={"columns": columns}),)})


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize(
    ("technique", "reversible"),
    [
        ("flat", False),
        ("flat", True),
        ("dimensional", False),
        ("dimensional", True),
        ("data_vault_2", True),
    ],
)
def test_a_wrong_reading_is_never_proven(
    tmp_path: Path, case: str, technique: str, reversible: bool
) -> None:
    """Either the values can't be built at all, or the proof says that they're lost."""
    texts, type_ = WRONG[case]
    with open_source(to_duckdb(tmp_path, "value", texts)) as source:
        profile = misread(profile_source(source), type_, reversible=reversible)
        model = build_model(profile, technique)
        try:
            proof = build_and_prove(source, transform_plan(model), model)
        except FluidError:
            return
    assert proof.verdict == "lost"
