"""What holds whatever is decided: the profile has only what its own queries confirm."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fluid_build.decisions.language import (
    DECISION,
    AddRelationship,
    AnyDecision,
    DropRelationship,
)
from fluid_build.decisions.weighing import amended
from fluid_build.decisions.weighing.references import find_reference
from fluid_build.profiling.profile import Candidate, ForeignKey, Profile
from tests.decisions.shop import Shop

COLUMNS = {
    "countries": ("code", "label"),
    "customers": ("id", "email", "name", "country", "city", "zip"),
    "orders": ("order_id", "order_no", "customer_id", "placed", "amount", "price_text", "big"),
    "returns": ("return_id", "order_id", "reason"),
    "clients": ("client_no", "mail"),
    "returns_backup": ("return_id", "order_id"),
    "nothing": ("nowhere",),
}
AUTHORS = st.sampled_from(["person", "model"])
TABLES = st.sampled_from(sorted(COLUMNS))
COLUMN_KINDS = "set_key business_key grain split measure type personal_data".split()
LIKELY = st.sampled_from(
    [
        ("orders", "customer_id", "customers", "id"),
        ("customers", "country", "countries", "code"),
        ("returns", "return_id", "customers", "id"),
        ("clients", "mail", "customers", "email"),
    ]
)
READINGS = st.sampled_from(
    [
        {"read_as": "text"},
        {"read_as": "date"},
        {"read_as": "date", "date_format": "%d/%m/%Y"},
        {"read_as": "timestamp", "date_format": "%m/%d/%Y"},
        {"read_as": "number"},
        {"read_as": "number", "decimal": "comma"},
    ]
)


def columns_of(table: str, most: int = 2) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(COLUMNS[table]), min_size=1, max_size=most, unique=True).map(
        tuple
    )


@st.composite
def about_columns(draw: st.DrawFn) -> AnyDecision:
    """Draw a decision about some columns of a table; only persons insist."""
    table, by = draw(TABLES), draw(AUTHORS)
    columns = draw(columns_of(table))
    kind = draw(
        st.sampled_from("set_key business_key grain split measure type personal_data".split())
    )
    fields: dict[str, object] = {"decision": kind, "table": table, "by": by}
    if kind in {"measure", "type", "personal_data"}:
        fields["column"] = columns[0]
    else:
        fields["columns"] = columns
    if kind in {"set_key", "business_key", "grain", "split", "type"}:
        fields["despite_violations"] = by == "person" and draw(st.booleans())
    if kind == "split":
        fields["attributes"] = tuple(name for name in COLUMNS[table] if name not in columns)
        fields["entity"] = "part"
    if kind == "measure":
        fields["additivity"] = "additive"
    if kind == "type":
        fields |= draw(READINGS)
    if kind == "personal_data":
        fields["is_personal"] = draw(st.booleans())
    return DECISION.validate_python(fields)


@st.composite
def about_two_tables(draw: st.DrawFn) -> AnyDecision:
    child, parent, by = draw(TABLES), draw(TABLES), draw(AUTHORS)
    count = draw(st.integers(1, min(len(COLUMNS[child]), len(COLUMNS[parent]), 2)))
    froms = draw(st.permutations(COLUMNS[child]))[:count]
    tos = draw(st.permutations(COLUMNS[parent]))[:count]
    pair = {"from_table": child, "from_columns": froms, "to_table": parent, "to_columns": tos}
    insisting = {"despite_violations": by == "person" and draw(st.booleans())}
    kind = draw(st.sampled_from(["add_relationship", "drop_relationship", "merge"]))
    if kind == "merge" and child != parent:
        pair = {"table": child, "columns": froms, "into_table": parent, "into_columns": tos}
    elif kind == "merge":
        kind = "add_relationship"
    if kind == "drop_relationship":
        insisting = {}
    return DECISION.validate_python({"decision": kind, "by": by, **pair, **insisting})


@st.composite
def about_a_likely_reference(draw: st.DrawFn) -> AnyDecision:
    child, column, parent, key = draw(LIKELY)
    by = draw(AUTHORS)
    pair = {"from_table": child, "from_columns": [column], "to_table": parent, "to_columns": [key]}
    if draw(st.booleans()):
        return DropRelationship.model_validate({**pair, "by": by})
    insists = by == "person" and draw(st.booleans())
    return AddRelationship.model_validate({**pair, "by": by, "despite_violations": insists})


@st.composite
def about_a_table(draw: st.DrawFn) -> AnyDecision:
    fields = draw(
        st.sampled_from(
            [
                {"decision": "ignore"},
                {"decision": "classify", "role": "hub"},
                {"decision": "describe", "text": "Something."},
                {"decision": "rename", "new_name": "customers"},
            ]
        )
    )
    return DECISION.validate_python({**fields, "table": draw(TABLES), "by": draw(AUTHORS)})


DECISIONS = st.lists(
    st.one_of(about_columns(), about_two_tables(), about_a_likely_reference(), about_a_table()),
    max_size=8,
)
shared_shop = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)


@given(decisions=DECISIONS)
@shared_shop
def test_what_nobody_insists_on_holds_by_its_own_query(
    shop: Shop, decisions: list[AnyDecision]
) -> None:
    verdicts = shop.weigh(*decisions)
    assert len(verdicts) == len(decisions)
    for verdict in verdicts:
        # What is dropped may have had orphans, and so may a reference that is confirmed as it is.
        is_claim = not isinstance(verdict.decision, DropRelationship)
        if isinstance(verdict.decision, AddRelationship):
            is_claim = find_reference(shop.profile, verdict.decision) is None
        if verdict.status == "accepted" and verdict.evidence and is_claim:
            assert not verdict.evidence.sql or shop.rows(verdict.evidence.sql) == []
    after = amended(shop.profile, verdicts)
    insisted = {
        _reference(verdict.decision)
        for verdict in verdicts
        if verdict.status == "insisted" and isinstance(verdict.decision, AddRelationship)
    }
    before = {_reference(key) for key in shop.profile.foreign_keys}
    for key in after.foreign_keys:
        if _reference(key) not in insisted | before:
            assert shop.rows(key.evidence.sql) == []
    for table in after.tables:
        if table.primary_key_evidence is not None:
            assert shop.rows(table.primary_key_evidence.sql) == []


@given(decisions=DECISIONS)
@shared_shop
def test_applying_the_same_decisions_again_changes_nothing(
    shop: Shop, decisions: list[AnyDecision]
) -> None:
    verdicts = shop.weigh(*decisions)
    once = amended(shop.profile, verdicts)
    assert amended(once, verdicts) == once
    assert amended(shop.profile, shop.weigh(*decisions)) == once


@given(decisions=DECISIONS)
@shared_shop
def test_a_decision_that_doesnt_apply_changes_nothing(
    shop: Shop, decisions: list[AnyDecision]
) -> None:
    verdicts = shop.weigh(*decisions)
    applying = [verdict for verdict in verdicts if verdict.applies]
    assert amended(shop.profile, verdicts) == amended(shop.profile, applying)
    refused = [verdict for verdict in verdicts if not verdict.applies]
    assert amended(shop.profile, refused) is shop.profile


@given(decisions=DECISIONS)
@shared_shop
def test_a_profile_refers_only_to_tables_and_columns_that_it_has(
    shop: Shop, decisions: list[AnyDecision]
) -> None:
    after: Profile = shop.amended(*decisions)
    assert after.tables
    references: list[ForeignKey | Candidate] = [*after.foreign_keys, *after.candidates]
    for key in references:
        for table, columns in ((key.from_table, key.from_columns), (key.to_table, key.to_columns)):
            assert {column.name for column in after.table(table).columns} >= set(columns)


def _reference(reference: ForeignKey | AddRelationship) -> tuple[object, ...]:
    pairs = frozenset(zip(reference.from_columns, reference.to_columns, strict=True))
    return reference.from_table, reference.to_table, pairs
