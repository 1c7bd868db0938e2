"""What a language model says that something means, against what the rules concluded of the data."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fluid_build.decisions.files import recorded_decisions
from fluid_build.decisions.language import (
    DECISION,
    AnyDecision,
    Classify,
    Describe,
    Domain,
    Measure,
    ProductName,
    TextType,
)
from fluid_build.decisions.verdicts import kept
from fluid_build.decisions.weighing.readings import is_same_reading
from fluid_build.forging import forge
from fluid_build.forging.options import ForgeOptions
from fluid_build.forging.stages import Designed, decide, design, look_closer, measure
from fluid_build.modeling.measures.measure_role import NO_AMOUNT
from fluid_build.observations.observe import Observations
from fluid_build.profiling.profile import Profile
from fluid_build.report.judgements.claim_judgements import open_readings
from fluid_build.report.judgements.open_judgements import open_judgements
from fluid_build.report.profile_json import profile_document
from fluid_build.sources import open_source
from fluid_build.sources.base import Source
from fluid_build.sources.declarations.catalog_facts import CatalogFacts

ADDITIVITIES = ("additive", "semi-additive", "non-additive", "none")
ROLES = {
    "data_vault_2": ("hub", "link", "satellite", "reference"),
    "dimensional": ("fact", "dimension", "bridge", "date"),
}
PRICE = Measure(
    table="products", column="price", additivity="additive", by="model", reason="Trust me"
)


@dataclass(frozen=True)
class Shop:
    """A shop that was measured once, and is designed with decisions."""

    source: Source
    profile: Profile
    observations: Observations

    def designed(self, *decisions: AnyDecision, technique: str = "flat") -> Designed:
        options = ForgeOptions(technique, decisions=decisions)
        decided = decide(self.source, self.profile, options)
        return design(decided, self.observations, options)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    path = tmp_path_factory.mktemp("shop") / "shop.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            """
            CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, price REAL, xq REAL);
            CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, rating INTEGER);
            CREATE TABLE orders (
                id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id),
                placed TEXT, status INTEGER
            );
            CREATE TABLE lines (
                order_id INTEGER REFERENCES orders (id), pos INTEGER,
                product_id INTEGER REFERENCES products (id), quantity INTEGER, discount_pct REAL,
                PRIMARY KEY (order_id, pos)
            );
            CREATE TABLE balances (
                customer_id INTEGER REFERENCES customers (id), day TEXT, balance REAL,
                PRIMARY KEY (customer_id, day)
            );
            """
        )
        days = [f"2026-03-{day:02}" for day in range(1, 29)]
        database.executemany(
            "INSERT INTO products VALUES (?, ?, ?, ?)",
            [(n, f"Product {n}", 5 + n * 1.13 % 90, n * 13.7 % 97) for n in range(1, 61)],
        )
        database.executemany(
            "INSERT INTO customers VALUES (?, ?, ?)",
            [(n, f"Name {n}", n % 5 + 1) for n in range(1, 81)],
        )
        database.executemany(
            "INSERT INTO orders VALUES (?, ?, ?, ?)",
            [(n, n * 7 % 80 + 1, days[n % 28], n % 3) for n in range(1, 301)],
        )
        database.executemany(
            "INSERT INTO lines VALUES (?, ?, ?, ?, ?)",
            [(n, p, (n * p) % 60 + 1, n % 9 + 1, n % 4 * 5) for n in range(1, 301) for p in (1, 2)],
        )
        database.executemany(
            "INSERT INTO balances VALUES (?, ?, ?)",
            [(n, day, n * 3.7 + len(day)) for n in range(1, 41) for day in days[:5]],
        )
    with open_source(path) as source:
        profile = measure(source)
        yield Shop(source, profile, look_closer(source, profile))


def measures(designed: Designed) -> dict[tuple[str, str], str]:
    return {
        (entity.name, attribute.name): attribute.measure.additivity if attribute.measure else "none"
        for entity in designed.model.conceptual.entities
        for attribute in entity.attributes
    }


def in_doubt(designed: Designed) -> set[tuple[str, str]]:
    """Return the columns of which neither name nor values say what they measure."""
    return {
        (entity.name, attribute.name)
        for entity in designed.model.conceptual.entities
        for attribute in entity.attributes
        if attribute.measure is not None and NO_AMOUNT in attribute.measure.alternatives
    }


def questions(shop: Shop, designed: Designed, *decided: AnyDecision) -> dict[str, str]:
    """Return what each open question says, by its id."""
    document = profile_document(shop.profile)
    return {
        each.id: f"{each.evidence} {' '.join(f'{c.label} {c.reason}' for c in each.choices)}"
        for each in open_judgements(document, designed.model, decided)
    }


def test_no_claim_of_a_model_changes_how_a_number_adds_up(shop: Shop) -> None:
    ruled = shop.designed()
    expected = measures(ruled)
    columns = [column for column in expected if column not in in_doubt(ruled)]
    for additivity in ADDITIVITIES:
        claims = [
            Measure.model_validate(
                {"table": table, "column": column, "additivity": additivity, "by": "model"}
            )
            for table, column in columns
        ]
        designed = shop.designed(*claims)
        assert measures(designed) == expected
        for claim, verdict in zip(claims, designed.verdicts, strict=True):
            agrees = expected[claim.table, claim.column] == additivity
            assert verdict.applies == agrees, verdict


def test_a_claim_that_differs_is_a_question_of_the_review(shop: Shop) -> None:
    designed = shop.designed(PRICE)
    assert [verdict.status for verdict in designed.verdicts] == ["asked"]
    assert "`fluid review`" in designed.verdicts[0].message
    question = questions(shop, designed, PRICE)["measure-products.price"]
    assert "Trust me" in question
    assert "non-additive" in question


def test_a_person_settles_what_a_model_claims(shop: Shop) -> None:
    person = PRICE.model_copy(update={"by": "person", "reason": ""})
    designed = shop.designed(PRICE, person)
    assert measures(designed)["products", "price"] == "additive"
    assert "measure-products.price" not in questions(shop, designed, PRICE, person)


def test_what_is_asked_stays_in_the_folder_until_a_person_answers(
    shop: Shop, tmp_path: Path
) -> None:
    for decisions in ([PRICE], recorded_decisions(tmp_path / "out").decisions):
        forge(shop.source, technique="flat", decisions=decisions, out=tmp_path / "out")
        assert [d.reason for d in recorded_decisions(tmp_path / "out").decisions] == ["Trust me"]


READINGS = (
    {"read_as": "text"},
    {"read_as": "number"},
    {"read_as": "number", "decimal": "comma"},
    {"read_as": "date"},
    {"read_as": "date", "date_format": "%d/%m/%Y"},
    {"read_as": "date", "date_format": "%m/%d/%Y"},
    {"read_as": "date", "date_format": "%Y-%m-%d"},
    {"read_as": "timestamp"},
    {"read_as": "timestamp", "date_format": "%d/%m/%Y"},
)
"""Every way in which a model may say that text is read."""


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Columns of text that the rules read as something, beside some of which they know nothing."""
    path = tmp_path_factory.mktemp("texts") / "texts.db"
    columns = ("iso", "european", "amount", "price", "either", "words")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE t ({', '.join(f'{name} TEXT' for name in columns)})")
        rows = [
            (
                f"2026-{n % 12 + 1:02}-{n % 28 + 1:02}",
                f"{n % 28 + 1:02}/{n % 12 + 1:02}/2026",
                str(n * 7 % 500),
                f"{n * 3 % 90},{n % 90 + 10}",
                f"{n % 12 + 1:02}/{(n * 5) % 12 + 1:02}/2026",
                f"word {n}",
            )
            for n in range(300)
        ]
        database.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", rows)
    with open_source(path) as source:
        profile = measure(source)
        yield Shop(source, profile, look_closer(source, profile))


def read_types(profile: Profile) -> dict[str, str | None]:
    return {column.name: column.measured_type for column in profile.tables[0].columns}


def test_no_claim_of_a_model_changes_how_text_is_read(texts: Shop) -> None:
    """What differs is asked, what agrees is accepted, and where nothing is known it counts."""
    ruled = read_types(texts.profile)
    unknown = {name for name, known in ruled.items() if known is None}
    assert "words" in unknown and 2 <= len(unknown) <= 3
    became = set()
    for name, known in ruled.items():
        for reading in READINGS:
            claim = TextType.model_validate(
                {"table": "t", "column": name, "by": "model", "reason": "I say so.", **reading}
            )
            decided = decide(texts.source, texts.profile, ForgeOptions("flat", decisions=[claim]))
            (verdict,) = decided.verdicts
            now = read_types(decided.profile)[name]
            if known is not None:
                assert now is not None
                assert is_same_reading(now, known)
            asked = open_readings(profile_document(decided.profile), kept([verdict]))
            assert bool(asked) == (verdict.status == "asked"), (name, reading, verdict)
            became.add((known is None, verdict.status))
    assert became == {
        *((False, status) for status in ("accepted", "asked", "refused")),
        *((True, status) for status in ("accepted", "refused")),
    }


def test_a_reading_that_differs_is_a_question_whose_answers_are_followed(texts: Shop) -> None:
    claim = TextType(table="t", column="european", read_as="text", by="model", reason="Trust me")
    designed = texts.designed(claim)
    assert [verdict.status for verdict in designed.verdicts] == ["asked"]
    document = profile_document(texts.profile)
    asked = {each.id: each for each in open_judgements(document, designed.model, [claim])}
    choices = asked["text-t.european"].choices
    assert [choice.label for choice in choices] == ["as DATE (%d/%m/%Y)", "as text"]
    for choice, expected in zip(choices, ("DATE (%d/%m/%Y)", None), strict=True):
        assert choice.decision is not None
        options = ForgeOptions("flat", decisions=[claim, choice.decision])
        decided = decide(texts.source, texts.profile, options)
        assert read_types(decided.profile)["european"] == expected
        left = open_judgements(
            profile_document(decided.profile), designed.model, [claim, choice.decision]
        )
        assert "text-t.european" not in {each.id for each in left}


def relations(designed: Designed) -> list[str]:
    return sorted(build.name for build in designed.plan.builds)


@pytest.mark.parametrize("technique", ROLES)
def test_no_claim_of_a_model_changes_what_a_table_becomes(shop: Shop, technique: str) -> None:
    ruled = relations(shop.designed(technique=technique))
    for role in ROLES[technique]:
        for table in shop.profile.tables:
            claim = Classify.model_validate(
                {"table": table.name, "role": role, "by": "model", "reason": "I say so."}
            )
            designed = shop.designed(claim, technique=technique)
            assert relations(designed) == ruled
            (verdict,) = designed.verdicts
            texts = questions(shop, designed, *kept(designed.verdicts)).values()
            assert any("I say so" in text for text in texts) == (verdict.status == "asked")


def test_a_role_that_the_rules_gave_too_is_accepted(shop: Shop) -> None:
    claim = Classify(table="products", role="hub", by="model")
    assert shop.designed(claim, technique="data_vault_2").verdicts[0].status == "accepted"
    claim = Classify(table="customers", role="fact", by="model")
    (verdict,) = shop.designed(claim, technique="dimensional").verdicts
    assert verdict.status == "asked"
    assert "dim_customers" in verdict.message


def test_a_claim_about_a_number_without_a_meaning_is_followed(shop: Shop) -> None:
    assert in_doubt(shop.designed()) == {("products", "xq")}
    claim = Measure(table="products", column="xq", additivity="additive", by="model")
    designed = shop.designed(claim, PRICE)
    assert [verdict.status for verdict in designed.verdicts] == ["accepted", "asked"]
    assert measures(designed)["products", "xq"] == "additive"
    assert measures(designed)["products", "price"] == "non-additive"
    assert "measure-products.xq" not in questions(shop, designed, claim)


def test_a_domain_and_a_name_that_nobody_knows_are_followed(shop: Shop) -> None:
    claims = [Domain(domain="Sales", by="model"), ProductName(name="Orders & more", by="model")]
    designed = shop.designed(*claims)
    assert [verdict.status for verdict in designed.verdicts] == ["accepted"] * 2
    assert designed.model.product is not None
    assert designed.model.product.domain == "Sales"
    assert designed.model.product.name == "Orders & more"
    assert "domain" not in questions(shop, designed, *claims)


def test_a_domain_that_a_catalog_declares_is_not_overruled(shop: Shop) -> None:
    catalog = CatalogFacts("Glue", product="Shop", domain="Retail")
    declared = replace(shop, profile=shop.profile.model_copy(update={"catalog": catalog}))
    claims = [Domain(domain="Finance", by="model"), ProductName(name="Bank", by="model")]
    designed = declared.designed(*claims)
    assert [verdict.status for verdict in designed.verdicts] == ["asked"] * 2
    assert designed.model.product is not None
    assert designed.model.product.domain == "Retail"
    open_questions = questions(declared, designed, *claims)
    assert "Finance" in open_questions["domain"]
    assert "Bank" in open_questions["name"]


NO_NAMES = (
    "../../evil",
    "..\\evil",
    "/etc/passwd",
    "~/.ssh/id_rsa",
    "C:\\Windows",
    "{{ env_var('SECRET') }}",
    "{% raw %}",
    "${HOME}",
    "$(id)",
    "`id`",
    "<script>alert(1)</script>",
    "https://evil.example/x",
    "a; DROP TABLE orders",
    "---",
    "A" * 300,
)


@pytest.mark.parametrize("text", NO_NAMES)
@pytest.mark.parametrize(("decision", "field"), [("domain", "domain"), ("name", "name")])
def test_a_model_can_name_nothing_by_what_is_no_name(decision: str, field: str, text: str) -> None:
    with pytest.raises(ValidationError):
        DECISION.validate_python({"decision": decision, field: text, "by": "model"})


@given(
    before=st.text(max_size=20),
    mark=st.sampled_from(["{{", "}}", "{%", "${", "..", "\\", "<", ">", "`", "://", "|", ";"]),
    after=st.text(max_size=20),
)
def test_no_name_of_a_model_has_marks_of_code_or_paths(before: str, mark: str, after: str) -> None:
    with pytest.raises(ValidationError):
        Domain(domain=f"{before}{mark}{after}", by="model")


@pytest.mark.parametrize(
    "text", ["Sales", "Research & Development", "Ventes (Europe)", "3PL / logistics", "顧客"]
)
def test_a_name_is_a_name(text: str) -> None:
    assert Domain(domain=text, by="model").domain == text


@pytest.mark.parametrize(
    "text",
    ["A" * 300, "A " * 150, "ab" * 60, "?!", "la " * 40],
)
def test_a_description_of_a_model_says_something(text: str) -> None:
    with pytest.raises(ValidationError):
        Describe(table="orders", text=text, by="model")


@pytest.mark.parametrize(
    "text",
    [
        "Orders.",
        "Each row is an order of a customer, with the day on which it was placed and its total.",
        "Die Donaudampfschifffahrtsgesellschaftskapitänsmütze jedes Kapitäns.",
        "Codes as in https://www.iso.org/iso-3166-country-codes.html.",
    ],
)
def test_a_description_is_prose(text: str) -> None:
    assert Describe(table="orders", text=text, by="model").text == text
