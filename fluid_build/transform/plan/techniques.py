"""The plan of a model, whatever its technique, and how its proof is made.

Everything here follows from the model alone: the same model gives the same plan.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.identifiers import identifier
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import SqlNames, is_reserved, sql_names
from fluid_build.transform.plan.carried_tests import Carrier, Carriers, with_source_promises
from fluid_build.transform.plan.data_vault import (
    vault_builds,
    vault_orphan_tests,
    vault_rebuilds,
    vault_relation_carriers,
    vault_relied_keys,
)
from fluid_build.transform.plan.dimensional import (
    mart_builds,
    mart_checks,
    mart_rebuilds,
    mart_relation_carriers,
    mart_relied_keys,
    orphan_tests,
)
from fluid_build.transform.plan.elements import (
    Build,
    BuildTest,
    Check,
    Rebuild,
    Renaming,
    TransformPlan,
)
from fluid_build.transform.plan.flat import flat_builds, flat_keys, flat_rebuilds
from fluid_build.transform.plan.relied_keys import ReliedKey, key_tests
from fluid_build.transform.plan.staging import (
    Keeps,
    by_spelling,
    by_value,
    plan_sources,
    staging_builds,
)


@dataclass(frozen=True, slots=True)
class _Technique:
    """What a technique builds on the staging, by which keys and references, and what its
    proof compares.
    """

    keeps: Keeps
    builds: Callable[[LogicalModel, SqlNames, Sequence[Build]], tuple[Build, ...]]
    keys: Callable[[LogicalModel, SqlNames, Sequence[Build]], Iterable[ReliedKey]]
    rebuilds: Callable[[LogicalModel, SqlNames], tuple[Rebuild, ...]]
    checks: Callable[[LogicalModel, SqlNames], tuple[Check, ...]]
    references: Callable[[LogicalModel, SqlNames], Mapping[str, tuple[BuildTest, ...]]]
    carriers: Callable[[LogicalModel, SqlNames, Sequence[Build]], Carriers]


def transform_plan(model: LogicalModel) -> TransformPlan:
    """Every relation that a model is built of, in the order of building."""
    technique = _TECHNIQUES[model.technique]
    names = sql_names(model.conceptual)
    staging = staging_builds(model.conceptual, names, technique.keeps)
    keys = technique.keys(model, names, staging)
    tests = key_tests(keys, model.conceptual, names)
    for relation, found in technique.references(model, names).items():
        tests[relation] = (*tests.get(relation, ()), *found)
    carriers = technique.carriers(model, names, staging)
    made = (*staging, *technique.builds(model, names, staging))
    builds, unstated = with_source_promises(
        tuple(_tested(build, tests.get(build.name, ())) for build in made),
        model.conceptual,
        names,
        carriers,
    )
    return TransformPlan(
        name=identifier(model.name),
        technique=model.technique,
        sources=plan_sources(model.conceptual, names),
        builds=builds,
        renamed=_renamed(model.conceptual, names),
        unstated=unstated,
    )


def _tested(build: Build, tests: tuple[BuildTest, ...]) -> Build:
    return build.model_copy(update={"tests": (*build.tests, *tests)}) if tests else build


def rebuilds(model: LogicalModel) -> tuple[Rebuild, ...]:
    """For each source table the query that gives it back, where the technique promises that."""
    return _TECHNIQUES[model.technique].rebuilds(model, sql_names(model.conceptual))


def checks(model: LogicalModel) -> tuple[Check, ...]:
    """The figures to be compared where a technique does not give the source tables back."""
    return _TECHNIQUES[model.technique].checks(model, sql_names(model.conceptual))


def _flat(model: LogicalModel, names: SqlNames, staging: Sequence[Build]) -> tuple[Build, ...]:
    return flat_builds(model.conceptual, names, staging)


def _nothing(_model: LogicalModel, _names: SqlNames) -> tuple[Check, ...]:
    return ()


def _flat_carriers(model: LogicalModel, names: SqlNames, _staging: Sequence[Build]) -> Carriers:
    """Every table as it is."""
    return {
        entity.name: [Carrier(names.table(entity.name), names.columns[entity.name])]
        for entity in model.conceptual.entities
    }


def _tested_elsewhere(
    _model: LogicalModel, _names: SqlNames
) -> Mapping[str, tuple[BuildTest, ...]]:
    """The builds of the technique have the tests of their references themselves."""
    return {}


_TECHNIQUES = {
    "flat": _Technique(
        keeps=by_value,
        builds=_flat,
        keys=lambda model, names, _: flat_keys(model.conceptual, names),
        rebuilds=lambda model, names: flat_rebuilds(model.conceptual, names),
        checks=_nothing,
        references=_tested_elsewhere,
        carriers=_flat_carriers,
    ),
    "data_vault_2": _Technique(
        keeps=by_spelling,
        builds=vault_builds,
        keys=vault_relied_keys,
        rebuilds=vault_rebuilds,
        checks=_nothing,
        references=vault_orphan_tests,
        carriers=vault_relation_carriers,
    ),
    "dimensional": _Technique(
        keeps=by_value,
        builds=mart_builds,
        keys=mart_relied_keys,
        rebuilds=mart_rebuilds,
        checks=mart_checks,
        references=orphan_tests,
        carriers=mart_relation_carriers,
    ),
}


def _renamed(conceptual: ConceptualModel, names: SqlNames) -> tuple[Renaming, ...]:
    """The names that are not just the snake_case spelling of the source's."""
    found = []
    for entity in conceptual.entities:
        table = names.table(entity.name)
        if table != identifier(entity.name):
            found.append(_renaming("table", entity.name, entity.name, table))
        for attribute in entity.attributes:
            column = names.column(entity.name, attribute.name)
            if column != identifier(attribute.name):
                found.append(_renaming("column", entity.name, attribute.name, column))
    return tuple(found)


def _renaming(
    kind: Literal["table", "column"], table: str, source_name: str, name: str
) -> Renaming:
    reason = (
        "a target or the build itself reserves that word"
        if is_reserved(source_name)
        else "another name of the source is spelled the same in snake_case"
    )
    return Renaming(kind=kind, table=table, source_name=source_name, name=name, reason=reason)
