"""Stars for tests: made of a DuckDB file that can be changed between two loads."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from fluid_build.modeling.dimensional.elements import (
    DEFAULT_CALENDAR,
    Bridge,
    CalendarSettings,
    Dimension,
    DimensionalModel,
    Fact,
)
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.techniques import build_model
from fluid_build.observations.observe import observe
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import ForeignKey, Profile
from fluid_build.sources import open_source
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.execution import FIRST_LOAD, Built
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.proof import Proof, prove
from tests.transform.databases import database, loaded, violations


@dataclass
class Star:
    """A star that was loaded once, and its source, open for changes as ``shop``."""

    model: LogicalModel
    plan: TransformPlan
    built: Built
    day: datetime = FIRST_LOAD

    @property
    def star(self) -> DimensionalModel:
        """The dimensional layer of the model."""
        return star_of(self.model)

    def change(self, *statements: str) -> None:
        """Change the source; its tables are in the database ``shop``."""
        for statement in statements:
            self.built.connection.execute(statement)

    def load(self) -> dict[str, int]:
        """Load once more, a day later; how many rows each relation has got more."""
        before = self.sizes()
        self.day += timedelta(days=1)
        self.built.load(self.day)
        after = self.sizes()
        return {name: after[name] - before[name] for name in after if after[name] != before[name]}

    def sizes(self) -> dict[str, int]:
        """How many rows each mart has."""
        return {one.name: self.built.rows(f"model.{one.name}") for one in self.plan.published}

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """The rows of a query."""
        return self.built.connection.execute(sql).fetchall()

    def proof(self) -> Proof:
        """The comparison with the source."""
        return prove(self.built, self.model)

    def failures(self) -> list[str]:
        """What the proof and the plan's tests find wrong."""
        proof = self.proof()
        found = [
            f"{table.table}: {check.name}: {check.expected} and {check.actual}"
            for table in proof.tables
            for check in table.checks
            if not check.holds
        ]
        found += [
            f"{table.table}: {table.missing} missing, {table.unexpected} unexpected"
            for table in proof.tables
            if table.missing or table.unexpected or table.types_equal is False
        ]
        return [*found, *self.broken_tests()]

    def broken_tests(self) -> list[str]:
        """The tests of the plan that do not hold."""
        return [
            test.name
            for one in self.plan.published
            for test in one.tests
            if self.rows(f"SELECT ({violations(one.name, test)}) > {test.allowed}") != [(False,)]
        ]


def star_of(model: LogicalModel) -> DimensionalModel:
    """The dimensional layer of a model."""
    assert model.dimensional is not None
    return model.dimensional


def fact(star: DimensionalModel, name: str) -> Fact:
    """The fact of that name."""
    return next(one for one in star.facts if one.name == name)


def dimension(star: DimensionalModel, name: str) -> Dimension:
    """The dimension of that name."""
    return star.dimension(name)


def bridge(star: DimensionalModel, name: str) -> Bridge:
    """The bridge of that name."""
    return next(one for one in star.bridges if one.name == name)


def without_history(model: DimensionalModel) -> DimensionalModel:
    """The model with every dimension overwritten."""
    dimensions = tuple(
        dimension.model_copy(
            update={
                "history": "",
                "durable_key": "",
                "attributes": tuple(
                    attribute.model_copy(update={"scd_type": min(1, attribute.scd_type)})
                    for attribute in dimension.attributes
                ),
            }
        )
        for dimension in model.dimensions
    )
    return model.model_copy(update={"dimensions": dimensions})


@contextmanager
def star(
    path: Path,
    statements: Sequence[str],
    references: Sequence[ForeignKey] | None = None,
    variant: str | None = None,
    calendar: CalendarSettings = DEFAULT_CALENDAR,
    adjust: Callable[[DimensionalModel], DimensionalModel] = lambda model: model,
) -> Iterator[Star]:
    """The star of the database that statements make, loaded once.

    ``references`` are taken for what was found in it, where they are given; ``adjust`` changes the
    model before it's built.
    """
    file = database(path / "shop.duckdb", *statements)
    # The plan runs on a database that's opened plainly, whose nested columns nobody has split.
    with open_source(file, nested="keep") as source:
        profile: Profile = profile_source(source)
        observations = observe(source, profile)
        tables = source.tables
    if references is not None:
        profile = profile.model_copy(update={"foreign_keys": tuple(references)})
    model = build_model(profile, "dimensional", variant, observations, calendar)
    model = model.model_copy(update={"dimensional": adjust(star_of(model))})
    plan = transform_plan(model)
    with loaded(file, tables, plan) as result:
        yield Star(model, plan, result)
