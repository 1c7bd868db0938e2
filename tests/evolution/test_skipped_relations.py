"""What a second build loads of that which dbt skipped because a table was stopped."""

from collections.abc import Mapping

from fluid_build.evolution.skipped_relations import SecondBuild, second_build
from fluid_build.transform.dbt.running import DbtNode, DbtResult, DbtStatus

READS: Mapping[str, tuple[str, ...]] = {
    "stg_sale": (),
    "stg_visit": (),
    "fct_sale_snapshot": ("stg_sale",),
    "dim_date": ("stg_sale", "stg_visit", "fct_sale_snapshot"),
    "fct_sale": ("stg_sale", "dim_date"),
    "fct_visit": ("stg_visit", "dim_date"),
    "report": ("fct_visit",),
    "all_facts": ("fct_sale", "fct_visit"),
}


def result(
    *tests: DbtNode, failed: tuple[str, ...] = ("stg_sale",), built: tuple[str, ...] = ()
) -> DbtResult:
    """A build of a star in which some models failed, and what isn't built was skipped."""

    def status(name: str) -> DbtStatus:
        return "failed" if name in failed else "built" if name in built else "skipped"

    models = (
        DbtNode(name, "model", status(name), "", None, 0.1, reads=reads)
        for name, reads in READS.items()
    )
    return DbtResult((*models, *tests))


def test_what_reads_nothing_of_a_stopped_table_is_loaded_with_the_calendar() -> None:
    """The calendar reads neither the staging that failed nor what couldn't be made of it."""
    assert second_build({"dim_date"}, result(built=("stg_visit",))) == SecondBuild(
        ("dim_date", "fct_visit", "report"), ("fct_sale_snapshot", "stg_sale")
    )


def test_a_calendar_of_stopped_tables_alone_stays_as_it_is() -> None:
    """There is nothing to load it from."""
    assert second_build({"dim_date"}, result(failed=("stg_sale", "stg_visit"))) is None


def test_what_a_failed_test_is_about_is_read_by_nothing() -> None:
    """As in the first build."""
    failed = DbtNode("visit_id_unique", "test", "failed", "", 3, 0.1, reads=("stg_visit",))
    assert second_build({"dim_date"}, result(failed, built=("stg_visit",))) is None


def test_a_build_in_which_nothing_was_stopped_has_no_second_one() -> None:
    """Everything was built."""
    assert second_build({"dim_date"}, result(failed=(), built=tuple(READS))) is None
