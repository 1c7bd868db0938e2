"""A small shop in a DuckDB file, modelled with decisions, built and proven."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from fluid_build.decisions.language import AnyDecision
from fluid_build.decisions.model_decisions import ModelDecisions, model_decisions
from fluid_build.decisions.verdicts import Refusal
from fluid_build.modeling.dimensional.decided.unfollowed import unfollowed
from fluid_build.modeling.dimensional.elements import DimensionalModel
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.techniques import build_model
from fluid_build.observations.observe import Observations, observe
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile
from fluid_build.sources import open_source
from fluid_build.sources.base import Source
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.building import build_and_prove
from fluid_build.transform.proof.proof import Proof

STATEMENTS = (
    "CREATE TABLE category (id INTEGER PRIMARY KEY, name VARCHAR)",
    "CREATE TABLE product (id INTEGER PRIMARY KEY, name VARCHAR, weight DOUBLE,"
    " category_id INTEGER REFERENCES category)",
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR, city VARCHAR, balance DOUBLE)",
    "CREATE TABLE loyalty (customer_id INTEGER PRIMARY KEY, card VARCHAR, points INTEGER)",
    "CREATE TABLE tag (id INTEGER PRIMARY KEY, label VARCHAR)",
    "CREATE TABLE product_tag (product_id INTEGER REFERENCES product, tag_id INTEGER REFERENCES"
    " tag, rank INTEGER, PRIMARY KEY (product_id, tag_id))",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer,"
    " ordered DATE, carrier_code VARCHAR, carrier_name VARCHAR, freight DECIMAL(8,2),"
    " paid BOOLEAN, gift BOOLEAN)",
    "CREATE TABLE line (order_id INTEGER REFERENCES orders, no INTEGER, product_id INTEGER"
    " REFERENCES product, quantity INTEGER, price DECIMAL(8,2), PRIMARY KEY (order_id, no))",
    "CREATE TABLE holiday (name VARCHAR PRIMARY KEY, falls_on DATE)",
    "CREATE TABLE visit (customer_id INTEGER REFERENCES customer, visited TIMESTAMP, pages"
    " INTEGER)",
    "INSERT INTO category SELECT i, 'c' || i FROM range(1, 6) r(i)",
    "INSERT INTO product SELECT i, 'p' || i, i / 3, 1 + i % 4 FROM range(1, 41) r(i)",
    "INSERT INTO customer SELECT i, 'n' || i, 'c' || i % 7, i * 1.5 FROM range(1, 61) r(i)",
    "INSERT INTO loyalty SELECT i, 'card ' || i, i * 10 FROM range(1, 61, 2) r(i)",
    "INSERT INTO tag SELECT i, 'label ' || i FROM range(1, 9) r(i)",
    "INSERT INTO product_tag SELECT 1 + i % 40, 1 + i // 40, i % 3 FROM range(120) r(i)",
    "INSERT INTO orders SELECT i, 1 + i * 7 % 60, DATE '2024-01-01' + (i // 3)::INTEGER,"
    " 'k' || i % 5, 'Carrier ' || i % 5, i / 4, i % 2 = 0, i % 3 = 0 FROM range(1, 301) r(i)",
    "INSERT INTO line SELECT 1 + i // 2, i % 2, 1 + i * 3 % 40, 1 + i % 9, 1 + i * 5 % 60"
    " FROM range(600) r(i)",
    "INSERT INTO holiday SELECT 'h' || i, DATE '2024-01-01' + i::INTEGER FROM range(1, 31) r(i)",
    "INSERT INTO visit SELECT 1 + i % 60, TIMESTAMP '2024-01-01' + to_hours(i::INTEGER // 2), i % 4"
    " FROM range(200) r(i)",
)


@dataclass(frozen=True)
class Decided:
    """A model with decisions, and its proof."""

    model: LogicalModel
    proof: Proof
    decisions: ModelDecisions

    @property
    def star(self) -> DimensionalModel:
        """The dimensional layer."""
        assert self.model.dimensional is not None
        return self.model.dimensional

    @property
    def refusals(self) -> list[Refusal]:
        """What isn't followed."""
        return list(unfollowed(self.star, self.model.conceptual, self.decisions).values())


@dataclass(frozen=True)
class Workshop:
    """An open source with its profile and observations, to be modelled again and again."""

    source: Source
    profile: Profile
    observations: Observations

    def decided(self, *decisions: AnyDecision, variant: str | None = None) -> Decided:
        """Model, build and prove with these decisions."""
        followed = model_decisions(decisions)
        model = build_model(
            self.profile, "dimensional", variant, self.observations, decisions=followed
        )
        proof = build_and_prove(self.source, transform_plan(model), model)
        return Decided(model, proof, followed)


@contextmanager
def workshop(place: str | Path) -> Iterator[Workshop]:
    """Open a source and measure it once."""
    with open_source(place) as source:
        profile = profile_source(source)
        yield Workshop(source, profile, observe(source, profile))


def small_shop(folder: Path) -> Path:
    """The file of the small shop."""
    path = folder / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        for statement in STATEMENTS:
            connection.execute(statement)
    return path
