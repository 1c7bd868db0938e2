"""Keys that are floating point numbers: 0.0 and -0.0 are one key, and each comes back as it was."""

import math
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.modeling.techniques import build_model
from fluid_build.observations.observe import observe
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.execution import FIRST_LOAD, Built
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.proof import prove
from tests.modeling.profiles import reference
from tests.transform.databases import database, loaded, violations

_NUMBERS = st.sampled_from([0.0, 1.0, 1.5, -1.0, 0.1, math.inf, math.nan])
_TECHNIQUES = ["flat", "data_vault_2", "dimensional"]
_KEYS = ["number", "number, part", "part"]


def _sql(number: float | None) -> str:
    return "NULL" if number is None else f"'{number}'"


def _respelled(draw: st.DrawFn, number: float) -> float:
    """A number that is equal for a database."""
    is_respelled = number in {0.0} and draw(st.booleans())
    return -number if is_respelled else number


@st.composite
def _tables(draw: st.DrawFn) -> tuple[str, ...]:
    """A table with a key of floats, and one that refers to it, by an id or by that key and a line.

    No two keys are equal, but a zero may be spelled with any sign in either table.
    """
    type_ = draw(st.sampled_from(["DOUBLE", "FLOAT"]))
    key = draw(st.sampled_from(_KEYS[:2]))
    pairs = st.tuples(_NUMBERS, st.integers(1, 2) if "part" in key else st.just(1))
    keys = draw(st.lists(pairs, min_size=3, max_size=9, unique_by=str))
    parents = ", ".join(
        f"({_sql(_respelled(draw, number))}, {part}, {_sql(draw(_NUMBERS | st.none()))},"
        f" 'n{row}', 'k{row % 2}')"
        for row, (number, part) in enumerate(keys)
    )
    is_line = draw(st.booleans())
    referring = draw(st.lists(st.sampled_from(keys), min_size=4, max_size=20))
    children = ", ".join(
        f"({row}, {_sql(_respelled(draw, number))}, {part}, {row}.5, DATE '2024-01-01' + {row})"
        for row, (number, part) in enumerate(referring)
    )
    return (
        f"CREATE TABLE parent (number {type_}, part INTEGER, weight {type_}, name VARCHAR,"
        f" kind VARCHAR, PRIMARY KEY ({key}))",
        f"CREATE TABLE child (id INTEGER, number {type_}, part INTEGER, amount DECIMAL(9, 2),"
        f" sold DATE, PRIMARY KEY ({f'{key}, id' if is_line else 'id'}))",
        f"INSERT INTO parent VALUES {parents}",
        f"INSERT INTO child VALUES {children}",
        f"-- {key}",
    )


def _failures(built: Built, plan: TransformPlan) -> list[str]:
    """The tests of the plan that don't hold."""
    return [
        test.name
        for build in plan.builds
        for test in build.tests
        if built.rows(f"({violations(build.name, test)}) AS broken (n) WHERE n > {test.allowed}")
    ]


@pytest.mark.parametrize("technique", _TECHNIQUES)
@given(_tables())
def test_equal_numbers_are_one_key_and_come_back_as_they_were(
    technique: str, tables: tuple[str, ...]
) -> None:
    """Nothing is lost, no promise is broken, and a second load finds nothing new."""
    *statements, key = tables
    columns = " ".join(key.removeprefix("-- ").split(", "))
    with TemporaryDirectory() as folder:
        file = database(Path(folder) / "shop.duckdb", *statements)
        with open_source(file) as source:
            profile = profile_source(source)
            profile = profile.model_copy(
                update={"foreign_keys": (reference("child", columns, "parent", columns),)}
            )
            model = build_model(profile, technique, None, observe(source, profile))
            tables_read = source.tables
        plan = transform_plan(model)
        with loaded(file, tables_read, plan) as built:
            proof = prove(built, model)
            assert proof.verdict == "proven", proof.tables
            assert _failures(built, plan) == []
            before = {build.name: built.rows(f"model.{build.name}") for build in plan.published}
            built.load(FIRST_LOAD.replace(year=2001))
            after = {build.name: built.rows(f"model.{build.name}") for build in plan.published}
            assert after == before
            assert prove(built, model).verdict == "proven"
