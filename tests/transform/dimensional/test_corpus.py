"""Known databases as stars: everything agrees with the source, and looks as a modeller draws it."""

from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.transform.plan.execution import built
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.proof import prove
from tests.shared import CORPUS, needs_shared, on_databases
from tests.transform.dimensional.stars import dimension, fact, star_of


@on_databases("chinook oracle_co world", thorough="gtfs_nyc northwind pubs sakila tpcc")
def test_a_known_database_is_proven(name: str) -> None:
    """Rows, sums, references and every value agree with the source; every table is compared."""
    folder = CORPUS / name / "data"
    with open_source(folder) as source:
        model = build_model(profile_source(source), "dimensional")
        with built(source, transform_plan(model)) as result:
            proof = prove(result, model)
    assert proof.verdict == "proven"
    assert {one.verdict for one in proof.tables} <= {"proven", "empty"}
    assert all(one.holds for table in proof.tables for one in table.checks)


@needs_shared
def test_rentals_are_drawn_as_a_modeller_would_draw_them() -> None:
    """Rental and payment are facts of film, store, customer and staff; films have actors."""
    folder = CORPUS / "sakila" / "data"
    with open_source(folder) as source:
        star = star_of(build_model(profile_source(source), "dimensional"))
    rental = fact(star, "fct_rental")
    assert rental.fact_type == "accumulating_snapshot"
    assert {"film_key", "store_key", "customer_key", "staff_key", "return_date_key"} <= {
        one.key for one in rental.dimensions
    }
    assert {one.name for one in dimension(star, "dim_customer").attributes} >= {"city", "country"}
    assert {one.name for one in star.bridges} == {"brg_film_actor", "brg_film_category"}
