"""The overview of the page: green only for what was checked."""

import pytest

from fluid_build.profiling.profile import Evidence, KeyClaim, TableProfile
from fluid_build.report.page.content import PageContent
from fluid_build.report.page.overview import Headline, overview
from fluid_build.report.page.page import report_page
from fluid_build.report.view import source_view
from fluid_build.transform.proof.proof import Proof
from tests.modeling.profiles import column, profile, reference, table
from tests.report.page.runs import content_with, proof_of, table_proof


def headline(content: PageContent, label: str) -> Headline:
    return next(each for each in overview(content).headlines if each.label == label)


def keys_of(*tables: TableProfile, has_data: bool = True) -> Headline:
    content = PageContent(source_view(profile(*tables, has_data=has_data)))
    return headline(content, "Tables with a key")


def keyed(violations: int = 0) -> TableProfile:
    evidence = Evidence(origin="declared", rows=100, violations=violations)
    return table(
        "orders",
        column("id"),
        primary_key=("id",),
        primary_key_origin="declared",
        primary_key_evidence=evidence,
        declared_keys=(KeyClaim(columns=("id",), evidence=evidence),),
    )


def test_keys_are_green_where_every_table_has_one_that_holds() -> None:
    assert (keys_of(keyed()).figure, keys_of(keyed()).style) == ("1 of 1", "good")


def test_a_key_that_the_data_breaks_is_not_green() -> None:
    keys = keys_of(keyed(violations=3))
    assert (keys.remark, keys.style) == ("1 broken", "warn")


def test_keys_that_no_data_was_there_to_check_are_not_green() -> None:
    keys = keys_of(keyed(), has_data=False)
    assert (keys.remark, keys.style) == ("as declared", "")


def test_a_source_with_tables_that_could_not_be_read_is_not_proven_green() -> None:
    skipped = [{"name": "broken", "reason": "It's broken."}]
    proof = headline(content_with(proof_of(table_proof("orders")), skipped=skipped), "Proof")
    assert (proof.figure, proof.style) == ("Proven in part", "warn")
    assert proof.remark == "1 of 2 tables compared and equal"


def test_empty_tables_are_not_counted_as_compared_and_equal() -> None:
    empty = table_proof("none", rows=0, rebuilt=0, verdict="empty")
    proof = headline(content_with(proof_of(table_proof("orders"), empty)), "Proof")
    assert proof.remark == "1 of 2 tables compared and equal, 1 empty"


@pytest.mark.parametrize(
    "proof",
    [
        proof_of(table_proof("orders", verdict="lost")),
        proof_of(table_proof("orders", missing=4)),
        proof_of(table_proof("orders", verdict="not compared")),
    ],
)
def test_an_edited_proof_that_contradicts_itself_is_not_green(proof: Proof) -> None:
    shown = headline(content_with(proof), "Proof")
    assert (shown.figure, shown.style) == ("Not proven", "warn")


def test_without_data_nothing_is_said_to_be_counted_or_to_hold() -> None:
    source = profile(
        table("customers", column("id", rows=0, distinct=0), primary_key=("id",)),
        has_data=False,
    )
    page = report_page(PageContent(source_view(source)))
    assert "no key or relationship is broken" not in page
    assert "every table declares a key, and there's no data that could contradict it" in page


def test_relationships_that_others_imply_are_counted_apart() -> None:
    tables = [table(name, column("id"), column("p"), primary_key=("id",)) for name in "abc"]
    keys = [
        reference("b", "id", "a", "id"),
        reference("c", "id", "b", "id"),
        reference("c", "id", "a", "id", implied=True),
    ]
    content = PageContent(source_view(profile(*tables, foreign_keys=keys)))
    relationships = headline(content, "Relationships")
    assert relationships.figure == "2"
    assert relationships.remark == "0 declared, 2 found; 1 more implied by these"
