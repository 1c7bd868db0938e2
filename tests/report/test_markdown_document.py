"""``MODEL.md`` says what to look at, and no text of the source acts as markup."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token

from fluid_build.modeling.logical import Technique
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling.profile import Profile
from fluid_build.report.diagrams.model_diagram import model_diagram
from fluid_build.report.markdown_document import model_document
from fluid_build.report.notices import notices
from fluid_build.report.view import source_view
from fluid_build.transform.plan.techniques import transform_plan
from tests.modeling.profiles import (
    candidate,
    column,
    profile,
    profiles,
    reference,
    table,
    values,
)
from tests.modeling.sources import source

OURS = {"<code>", "</code>"}


def document(measured: Profile, technique: Technique = "flat") -> str:
    model = build_model(measured, technique)
    plan = transform_plan(model)
    return model_document(source_view(measured, model, plan), model_diagram(model, plan))


def tokens(text: str) -> Iterator[Token]:
    for token in MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(text):
        yield token
        yield from token.children or ()


@given(profiles())
def test_no_text_of_a_source_becomes_markup(measured: Profile) -> None:
    """Names, comments and reasons are shown: no link, image, HTML or heading comes of them."""
    text = document(measured)
    has_questions = any(candidate.confidence >= 0.2 for candidate in measured.candidates)
    expected = 5 + len(measured.tables) + has_questions
    found = list(tokens(text))
    assert not {token.type for token in found} & {"link_open", "image", "html_block"}
    assert {token.content for token in found if token.type == "html_inline"} <= OURS
    assert sum(token.type == "heading_open" for token in found) == expected + 1
    fences = [token for token in found if token.type == "fence"]
    assert {token.info for token in fences} <= {"sql", "mermaid"}
    assert not any(token.type == "code_block" for token in found)


def chain_of_tables(count: int) -> Profile:
    """Tables that each refer to the one before, and a table on its own."""
    return profile(
        *(
            table(f"t{number}", column("id"), column("ref"), primary_key=("id",))
            for number in range(count)
        ),
        table("alone", column("id")),
        foreign_keys=[
            reference(f"t{number}", "ref", f"t{number - 1}", "id") for number in range(1, count)
        ],
    )


def diagrams(text: str) -> str:
    return text.partition("## Diagram")[2].partition("## Columns")[0]


def test_a_star_has_the_matrix_of_its_facts_and_what_they_share() -> None:
    text = document(
        source("""
            customer *id, city text/5, street text, segment text/4
            sale     *id, sold date, amount decimal, customer_id > customer
            claim    *id, claimed date, amount decimal, customer_id > customer
        """),
        "dimensional",
    )
    matrix = text.split("### Bus matrix")[1].split("###")[0]
    assert "| `fct_claim` | yes | yes |" in matrix and "| `fct_sale` | yes | yes |" in matrix
    assert "| Fact | dim_customer | dim_date | Degenerate dimensions |" in matrix.replace("`", "")


@pytest.mark.parametrize(
    ("technique", "relations"),
    [
        ("flat", ["customer", "sale"]),
        ("data_vault_2", ["hub_customer", "sat_customer", "tl_sale"]),
        ("dimensional", ["dim_customer", "fct_sale", "dim_date"]),
    ],
)
def test_the_model_that_is_built_is_drawn(technique: Technique, relations: list[str]) -> None:
    measured = source("""
        customer *id, city text/5, street text, segment text/4
        sale     *id, sold date, amount decimal, customer_id > customer
    """)
    drawn = diagrams(document(measured, technique))
    assert [name for name in relations if f't_{name}["{name}"]' not in drawn] == []
    assert ", with keys and references only." in drawn


def test_a_large_model_is_drawn_in_pieces_that_say_what_is_in_them() -> None:
    drawn = diagrams(document(chain_of_tables(30)))
    assert drawn.startswith("s\n\nThe diagrams show the model: 31 relations,")
    titles = re.findall(r"### (.*)", drawn)
    assert len(titles) == len(set(titles)) == drawn.count("```mermaid")
    assert re.fullmatch(r"1\. Around `t\d+`", titles[0])
    assert titles[-1].endswith("Without references")
    assert drawn.count("--") == 29


@pytest.mark.parametrize(
    ("pairs", "title"),
    [
        (8, "1. Around `p0`, `p1`, `p2` and 4 more"),
        (9, "2. Around `p7` and `p8`"),
    ],
)
def test_small_parts_share_a_diagram_whose_title_names_them(pairs: int, title: str) -> None:
    tables = [
        table(f"{name}{number}", column("id"), column("ref"), primary_key=("id",))
        for name in "pc"
        for number in range(pairs)
    ]
    keys = [reference(f"c{number}", "ref", f"p{number}", "id") for number in range(pairs)]
    assert f"### {title}\n" in document(profile(*tables, foreign_keys=keys))


def test_the_diagrams_of_a_huge_model_end_and_say_where_all_of_it_is_drawn() -> None:
    drawn = diagrams(document(chain_of_tables(400)))
    assert drawn.count("```mermaid") == 25
    assert re.search(
        r"These are 25 of \d+ diagrams\. The map in `report\.html` shows all 401", drawn
    )


def test_references_that_others_imply_are_counted_and_not_drawn() -> None:
    tables = [table(name, column("id"), column("p"), primary_key=("id",)) for name in "abc"]
    keys = [
        reference("b", "id", "a", "id", origin="declared"),
        reference("c", "id", "b", "id", origin="declared"),
        reference("c", "id", "a", "id", origin="declared", implied=True),
    ]
    drawn = diagrams(document(profile(*tables, foreign_keys=keys)))
    assert "1 reference that others imply is left out." in drawn
    assert drawn.count("--") == 2


def test_what_to_look_at_is_in_the_order_of_its_weight() -> None:
    """What was not read comes before broken keys, orphans, personal data and mere oddities."""
    broken = {"columns": ["id"], "evidence": {"origin": "declared", "rows": 100, "violations": 2}}
    shop = profile(
        table(
            "orders",
            column("id"),
            column("customer"),
            column("placed", "VARCHAR", measured_type="DATE (%d/%m/%Y)"),
            column("nothing", nulls=100, distinct=0),
            column("mail", "VARCHAR", pii=True),
            declared_keys=[broken],
        ),
        table("customers", column("id"), primary_key=("id",)),
        table("empty", column("id", rows=0, distinct=0)),
        foreign_keys=[reference("orders", "customer", "customers", "id", orphans=7)],
        skipped=[{"name": "secret", "reason": "permission was denied"}],
    )
    found = notices(shop, build_model(shop).conceptual)
    assert [notice.kind for notice in found] == [
        "not read",
        "broken key",
        "orphans",
        "personal data",
        "no key",
        "stored as another type",
        "empty column",
        "empty table",
    ]
    assert all(notice.sql for notice in found[1:])
    assert found[1].text.endswith("of 100 rows, 2 repeat the key of another row.")
    assert "7 of 100 rows (7.0%) have no match in customers." in found[2].text


def test_declared_relationships_and_many_orphans_come_first() -> None:
    """Of several with orphans, what was promised comes first, then the larger number."""
    shop = profile(
        *(table(name, column("id"), column("p"), primary_key=("id",)) for name in "abcp"),
        foreign_keys=[
            reference("a", "p", "p", "id", orphans=1),
            reference("b", "p", "p", "id", orphans=9),
            reference("c", "p", "p", "id", orphans=1, origin="declared"),
        ],
    )
    found = notices(shop, build_model(shop).conceptual)
    assert [notice.table for notice in found] == ["c", "b", "a"]


def test_what_is_not_certain_never_shows_as_certain() -> None:
    """A confidence is rounded down, in the document as on the screen."""
    tables = [table(name, column("id"), column("p"), primary_key=("id",)) for name in "ap"]
    keys = [reference("a", "p", "p", "id", orphans=1, confidence=0.9965)]
    assert "| 0.99 |" in document(profile(*tables, foreign_keys=keys))


def test_values_of_personal_data_are_not_in_the_document() -> None:
    """A PII column is named, its values are not."""
    secret = values(**{"ann@example.com": 50, "bob@example.com": 50})
    facts = {"min": "ann@example.com", "max": "bob@example.com", "pii": True}
    mail = column("mail", "VARCHAR", top_values=secret, semantic_type="email", **facts)
    text = document(profile(table("people", mail)))
    assert "`mail`" in text
    assert "example.com" not in text


def test_structure_without_data_shows_no_figures() -> None:
    """From DDL, the document says that there was no data, and gives no row counts."""
    made = table("t", column("id", rows=0, distinct=0), primary_key=("id",))
    text = document(profile(made, source_kind="ddl", has_data=False, notes=["Read *so*."]))
    assert "There was no data to check it against." in text
    assert "| `t` |  | 1 | `id` |" in text
    assert "- Note: Read &#42;so&#42;." in text


def test_queries_on_files_come_with_the_way_to_run_them() -> None:
    """A file has no name in SQL until its path is put there; a database's tables have theirs."""
    tables = [table("t", column("nothing", nulls=100, distinct=0))]
    assert "replace the table name with the path" in document(profile(*tables, source_kind="files"))
    assert "replace the table name with the path" not in document(profile(*tables))


def test_a_sound_source_has_nothing_to_look_at() -> None:
    """Where nothing is wrong, the document says so instead of leaving a gap."""
    text = document(profile(table("t", column("id"), primary_key=("id",))))
    assert "Nothing: no key or relationship is broken" in text


def test_long_lists_are_cut_and_say_so() -> None:
    """Of many notices of a kind, ten are shown and the rest are counted."""
    names = [f"t{number}" for number in range(25)]
    text = document(profile(*(table(name, column("id")) for name in names)))
    assert text.count("No key:") == 10
    assert "And 15 more under" in text


def test_possible_relationships_are_questions_the_least_certain_first() -> None:
    """Those that are hardly likely aren't asked about."""
    columns = [column(name) for name in ("id", "a", "b", "c")]
    shares = {"a": 0.25, "b": 0.45, "c": 0.1}
    text = document(
        profile(
            table("t", *columns, primary_key=("id",)),
            candidates=[
                candidate("t", name, "t", "id", confidence=share) for name, share in shares.items()
            ],
        )
    )
    asked = text.partition("## Open questions")[2].partition("## ")[0]
    assert asked.index("`t` (`b`)") < asked.index("`t` (`a`)")
    assert "`t` (`c`)" not in asked
    assert "| 0.45 |" in asked


def test_many_questions_are_cut_and_say_so() -> None:
    """Of sixty questions, forty are shown and the rest are counted."""
    names = [f"c{number}" for number in range(60)]
    made = table("t", column("id"), *map(column, names), primary_key=("id",))
    asked = [candidate("t", name, "t", "id") for name in names]
    text = document(profile(made, candidates=asked))
    assert text.count("the evidence isn't strong enough") == 40
    assert "And 20 more: see `candidates` in `model.json`." in text


def test_a_source_without_questions_has_no_section_for_them() -> None:
    """The heading is left out."""
    text = document(profile(table("t", column("id"), primary_key=("id",))))
    assert "Open questions" not in text


def test_alternate_keys_are_listed_and_unique_prices_and_descriptions_arent() -> None:
    columns = ("id", "party_code", "email", "price", "description", "changed")
    party = table(
        "party",
        column("id"),
        column("party_code", "VARCHAR"),
        column("email", "VARCHAR", semantic_type="email"),
        column("price", "DECIMAL(9,2)"),
        column("description", "VARCHAR"),
        column("changed", "DATE"),
        primary_key=["id"],
        candidate_keys=[[name] for name in columns],
    )
    (listed,) = [
        part for part in document(profile(party)).split("\n\n") if "Alternate key |" in part
    ]
    assert [line.split("|")[2].strip() for line in listed.splitlines()[2:]] == [
        "`party_code`",
        "`email`",
    ]


def test_what_is_left_out_of_the_model_is_said_with_its_reason() -> None:
    measured = profile(table("party", column("id")), ignored=("old_party",))
    assert "| `old_party` | Somebody decided so. |" in document(measured)
    said = "The model is made from every table of the source: none was skipped or ignored."
    assert said in document(profile(table("party", column("id"))))
