"""The demo and real databases, with every table decided to be everything: nothing is ever lost."""

from collections.abc import Iterator
from itertools import pairwise

import pytest

from fluid_build.decisions.language import BusinessKey, Classify, Merge, Role, Split
from tests.forges import demo_shop
from tests.modeling.data_vault.decided_vaults import Decided, Measured, measured
from tests.shared import CORPUS, on_databases

_ROLES: tuple[Role, ...] = ("hub", "link", "satellite", "reference")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    path = tmp_path_factory.mktemp("demo") / "shop.db"
    demo_shop(path)
    with measured(path) as source:
        yield source


@pytest.mark.parametrize("role", _ROLES)
def test_every_table_of_the_demo_takes_a_role_or_is_refused(demo: Measured, role: Role) -> None:
    _check_roles(demo, role)


@on_databases("jaffle_shop pubs", thorough="car_dealership chinook northwind oracle_co world")
def test_every_table_of_a_real_database_takes_a_role_or_is_refused(name: str) -> None:
    with measured(CORPUS / name / "data") as source:
        source.source.connection.execute("SET threads = 1")
        for role in _ROLES:
            _check_roles(source, role)


@on_databases("pubs", thorough="chinook northwind sakila")
def test_every_column_of_a_real_database_may_be_a_key_or_an_entity(name: str) -> None:
    with measured(CORPUS / name / "data") as source:
        source.source.connection.execute("SET threads = 1")
        for place in range(3):
            columns = {t.name: [c.name for c in t.columns] for t in source.profile.tables}
            chosen = {t: names[place % len(names)] for t, names in columns.items()}
            keys = [
                BusinessKey(table=table, columns=(column,), despite_violations=True)
                for table, column in chosen.items()
            ]
            splits = [
                Split(table=table, columns=(column,), entity=f"part_{number}",
                      attributes=tuple(c for c in columns[table] if c != column)[:2])
                for number, (table, column) in enumerate(chosen.items())
            ]  # fmt: skip
            assert source.decided(*keys).verdict == "proven"
            assert source.decided(*splits).verdict == "proven"


@on_databases("pubs", thorough="chinook northwind sakila")
def test_any_two_tables_of_a_real_database_may_be_merged(name: str) -> None:
    with measured(CORPUS / name / "data") as source:
        source.source.connection.execute("SET threads = 1")
        keyed = [t for t in source.profile.tables if t.primary_key and len(t.primary_key) == 1]
        merges = [
            Merge(table=table.name, columns=table.primary_key or (), into_table=other.name,
                  into_columns=other.primary_key or ())
            for table, other in pairwise(keyed)
        ]  # fmt: skip
        assert source.decided(*merges).verdict == "proven"


def _check_roles(source: Measured, role: Role) -> None:
    tables = [table.name for table in source.profile.tables]
    decisions = [Classify(table=table, role=role, reason=f"it's a {role}") for table in tables]
    decided = source.decided(*decisions)
    assert decided.verdict == "proven"
    refused = {d.table for d in decided.refusals if isinstance(d, Classify)}
    for decision in decisions:
        assert _is_decided(decided, decision) != (decision.table in refused)


def _is_decided(decided: Decided, decision: Classify) -> bool:
    """Return whether the element that the role stands for says that somebody decided it."""
    vault = decided.vault
    elements = {
        "hub": [(hub.entity_name, hub.reason) for hub in vault.hubs],
        "link": [(link.table, link.reason) for link in vault.links],
        "satellite": [(s.table, s.reason) for s in vault.satellites],
        "reference": [(table.table, table.reason) for table in vault.reference_tables],
    }
    return any(
        table == decision.table and f"Decided by a person: {decision.reason}." in reason
        for table, reason in elements[decision.role]
    )
