"""What a warehouse needs, by what a model writes and what is there."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from fluid_build.evolution.migrating import Mark, Step, Written, warehouse_steps, written_by
from fluid_build.evolution.warehouse import Relation
from fluid_build.modeling.evolution import EMPTIED, Evolution
from fluid_build.modeling.logical import LogicalModel
from fluid_build.transform.dbt.dialects import DuckDbDialect
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.dbt.evolving import columns, model_of

SHOP = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, code VARCHAR, city VARCHAR)",
    "CREATE TABLE sale (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer, sold DATE,"
    " paid DECIMAL(9, 2))",
    "INSERT INTO customer SELECT i, 'c' || i, 'Town ' || i % 5 FROM range(1, 41) s(i)",
    "INSERT INTO sale SELECT i, 1 + i % 40, DATE '2024-01-01' + CAST(i AS INTEGER), i * 1.5"
    " FROM range(1, 201) s(i)",
)
ROWS = {"customer": 40, "sale": 200}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, LogicalModel]:
    """A vault and a star of the shop."""
    place = tmp_path_factory.mktemp("models")
    return {kind: model_of(place / kind, SHOP, kind) for kind in ("data_vault_2", "dimensional")}


@pytest.fixture(params=["data_vault_2", "dimensional"])
def model(request: pytest.FixtureRequest, models: Mapping[str, LogicalModel]) -> LogicalModel:
    """Each of them."""
    return models[request.param]


def evolved(model: LogicalModel, **evolution: object) -> LogicalModel:
    """The model after a change of its source."""
    return model.model_copy(update={"evolution": Evolution.model_validate(evolution)})


def written(model: LogicalModel) -> Written:
    """What a model writes."""
    return written_by(model, transform_plan(model))


def there(plan: TransformPlan, *without: str) -> dict[str, Relation]:
    """The relations that a load of a plan leaves, but for columns of these names."""
    return {
        build.name: Relation(
            build.name, {c.name: c.type for c in build.columns if c.name not in without}
        )
        for build in plan.published
    }


def steps(
    before: LogicalModel,
    after: LogicalModel,
    relations: Mapping[str, Relation],
    *,
    is_deployed: bool = True,
) -> tuple[Step, ...]:
    """What a warehouse needs in DuckDB."""
    states = written(before), written(after)
    known = states[0].evolution if is_deployed else Evolution()
    return warehouse_steps(*states, relations, ROWS, DuckDbDialect(), known=known)


def of(kind: str, found: tuple[Step, ...]) -> Iterator[Step]:
    """The steps of a kind."""
    return (step for step in found if step.kind == kind)


def test_a_warehouse_of_the_same_model_needs_nothing(model: LogicalModel) -> None:
    """Rows that come each night are no step."""
    assert steps(model, model, there(transform_plan(model))) == ()


def test_everything_is_created_where_nothing_is_there(model: LogicalModel) -> None:
    """Of relations with a row for each of a table's, the rows are known."""
    found = steps(model, model, {})
    created = {step.relation for step in found if step.kind == "create"}
    assert created == {build.name for build in transform_plan(model).published}
    assert {step.rows for step in found} >= {200}
    assert found[-1].sentence == "load: reads 240 rows of 2 tables"
    assert {step.mark for step in found} == {Mark.SAFE}


def test_a_column_that_joined_is_added_to_what_remembers(model: LogicalModel) -> None:
    """Relations that are rebuilt get it with the next load, without a step."""
    after = evolved(model, added_columns=columns("customer", "city"))
    found = steps(model, after, there(transform_plan(model), "city"))
    assert {step.column for step in of("add_column", found)} == {"city"}
    assert {step.type for step in of("add_column", found)} == {"VARCHAR"}


def test_a_satellite_that_came_is_told_from_a_first_load(
    models: Mapping[str, LogicalModel],
) -> None:
    """A new satellite says how many rows it begins with."""
    vault = models["data_vault_2"]
    relations = there(transform_plan(vault))
    satellite = next(name for name in relations if name.startswith("sat_"))
    del relations[satellite]
    (step,) = of("new_satellite", steps(vault, vault, relations))
    assert (step.relation, step.rows) == (satellite, 200)


def test_a_type_that_became_wider_is_widened_once(model: LogicalModel) -> None:
    """Where the warehouse has the wider type already, nothing is left to do."""
    after = evolved(model, retyped_columns=columns("customer", "code"))
    narrow = there(transform_plan(model))
    stored = written(model).stored
    remembering = [name for name in stored if any(c.name == "code" for c in stored[name])]
    for name in remembering:
        narrow[name] = Relation(name, {**narrow[name].columns, "code": "INTEGER"})
    found = {step.relation for step in of("widen_column", steps(model, after, narrow))}
    assert found == set(remembering)
    assert not list(of("widen_column", steps(model, after, there(transform_plan(model)))))


def test_a_column_that_is_gone_is_no_news_to_a_warehouse_that_knows(model: LogicalModel) -> None:
    """It's told by the first plan, and not by those after its apply."""
    after = evolved(model, retired_columns=columns("customer", "city"))
    relations = there(transform_plan(model))
    (*_, first) = of("retire_column", steps(model, after, relations))
    assert first.sentence.endswith(".city: rows keep what they have")
    assert steps(after, after, relations) == ()
    assert list(of("retire_column", steps(after, after, relations, is_deployed=False)))


def test_a_fact_keeps_a_column_that_is_gone(models: Mapping[str, LogicalModel]) -> None:
    """Nothing is lost where a key tells its rows apart, and nothing once it's back."""
    star = models["dimensional"]
    after = evolved(star, retired_columns=columns("sale", "paid"))
    relations = there(transform_plan(star))
    told, _ = steps(star, after, relations)
    assert told.sentence == "stop loading fct_sale.paid: rows keep what they have"
    assert told.mark is Mark.SAFE
    assert steps(after, star, relations) == ()


def test_what_a_fact_without_a_key_would_lose_is_said(tmp_path: Path) -> None:
    """Its rows can't be found again, so they lose what only the warehouse has."""
    star = model_of(
        tmp_path / "visits",
        (
            "CREATE TABLE page (id INTEGER PRIMARY KEY, title VARCHAR)",
            "INSERT INTO page SELECT i, 'p' || i FROM range(1, 21) s(i)",
            "CREATE TABLE visit (page INTEGER REFERENCES page, day DATE, seconds INTEGER)",
            "INSERT INTO visit SELECT 1 + i % 20, DATE '2024-01-01' + CAST(i % 9 AS INTEGER), i % 7"
            " FROM range(400) s(i)",
        ),
        "dimensional",
    )
    relations = there(transform_plan(star))
    after = evolved(star, retired_columns=columns("visit", "seconds"))
    states = written(star), written(after)
    found = warehouse_steps(
        *states, relations, {"visit": 400}, DuckDbDialect(), known=states[0].evolution
    )
    (lost,) = of("empty_column", found)
    assert lost.sentence == "fct_visit.seconds becomes NULL in 400 rows"
    assert (lost.mark, lost.rows) == (Mark.DESTROYS, 400)
    seconds = states[1].plan.build("fct_visit").column("seconds")
    assert seconds.description.endswith(EMPTIED)
    assert not list(of("empty_column", steps(after, after, relations)))


def test_a_table_that_is_gone_leaves_its_rows(model: LogicalModel) -> None:
    """Its relations stay, and are loaded no more."""
    after = evolved(model, retired_tables=["sale"])
    found = steps(model, after, there(transform_plan(model)))
    retired = [step.relation for step in of("retire_relation", found)]
    assert retired
    assert all("sale" in transform_plan(model).build(n).mapped_source_tables for n in retired)


def test_a_history_that_the_model_no_longer_keeps_is_destroyed(
    models: Mapping[str, LogicalModel], tmp_path: Path
) -> None:
    """A relation that remembers and is to be built anew loses what it knew."""
    star = models["dimensional"]
    before = written(star)
    name = next(
        name for name in before.stored if before.plan.build(name).materialization == "incremental"
    )
    builds = tuple(
        build.model_copy(update={"materialization": "table", "next_load": None})
        if build.name == name
        else build
        for build in before.plan.builds
    )
    plan = before.plan.model_copy(update={"builds": builds})
    after = written_by(star, plan)
    found = warehouse_steps(
        before, after, there(plan), ROWS, DuckDbDialect(), known=before.evolution
    )
    (step,) = of("replace", found)
    assert (step.relation, step.mark) == (name, Mark.DESTROYS)


def test_a_relation_that_left_the_model_stays(models: Mapping[str, LogicalModel]) -> None:
    """Nobody drops it."""
    vault = models["data_vault_2"]
    before = written(vault)
    name = next(iter(before.stored))
    builds = tuple(build for build in before.plan.builds if build.name != name)
    after = written_by(vault, before.plan.model_copy(update={"builds": builds}))
    found = warehouse_steps(
        before, after, there(before.plan), ROWS, DuckDbDialect(), known=before.evolution
    )
    assert [step.relation for step in of("leave", found)] == [name]
