"""The plan of a model, whatever its technique, and how its proof is made.

Everything here follows from the model alone: the same model gives the same plan.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, Protocol

from fluid_build.modeling.conceptual import Attribute, ConceptualModel, Entity
from fluid_build.modeling.identifiers import identifier
from fluid_build.modeling.logical import LogicalModel, Technique
from fluid_build.modeling.sql_names import SqlNames, is_reserved, sql_names
from fluid_build.transform.plan.carried_tests import Carriers, with_source_promises
from fluid_build.transform.plan.conventions import plan_names
from fluid_build.transform.plan.data_vault.vault_plan import vault_plan
from fluid_build.transform.plan.deliveries import kept_builds
from fluid_build.transform.plan.dimensional.mart_plan import mart_plan
from fluid_build.transform.plan.elements import (
    Build,
    BuildTest,
    Check,
    Rebuild,
    Renaming,
    RowScope,
    TransformPlan,
)
from fluid_build.transform.plan.flat import flat_plan
from fluid_build.transform.plan.guards import with_guards
from fluid_build.transform.plan.present_source import (
    PresentSource,
    present_source,
    without_broken_promises,
)
from fluid_build.transform.plan.quarantine import (
    BROKEN_RULE,
    KeptApart,
    in_the_source,
    keys_by_table,
    quarantine_builds,
    sound,
)
from fluid_build.transform.plan.relied_keys import ReliedKey, key_tests
from fluid_build.transform.plan.retirement import told_as_emptied
from fluid_build.transform.plan.staging import (
    Keeps,
    by_spelling,
    by_value,
    plan_sources,
    staging_builds,
)


class _TechniquePlan(Protocol):
    """What a technique builds on the staging, and what its proof compares."""

    def builds(self) -> tuple[Build, ...]:
        """Return every relation that isn't a staging view, in the order of building."""
        ...

    def relied_keys(self) -> Iterable[ReliedKey]:
        """Return the keys of the source that the technique relies on."""
        ...

    def reference_tests(self) -> Mapping[str, tuple[BuildTest, ...]]:
        """Return by relation the tests of its references that its build doesn't have."""
        ...

    def carriers(self) -> Carriers:
        """Return which relations hold the columns of each table."""
        ...

    def rebuilds(self) -> tuple[Rebuild, ...]:
        """Return for each source table the query that rebuilds it."""
        ...

    def checks(self) -> tuple[Check, ...]:
        """Return the figures to compare where a table doesn't come back row by row."""
        ...


_Plan = Callable[[LogicalModel, SqlNames, Sequence[Build], PresentSource], _TechniquePlan]
_TECHNIQUES: Mapping[Technique, tuple[_Plan, Keeps]] = {
    "flat": (flat_plan, by_value),
    "data_vault_2": (vault_plan, by_spelling),
    "dimensional": (mart_plan, by_value),
}
"""Each technique with its plan, and whether its staging keeps the value or the spelling of text."""
_RESERVED_DECISION = "a decision says so, and the name is reserved on a target or used by the build"


def transform_plan(model: LogicalModel) -> TransformPlan:
    """Return every relation that a model is built of, in the order of building."""
    model = _promising_what_is_there(model)
    names, staging, plan = _technique_plan(model)
    present = present_source(model)
    ever_relied_on = tuple(plan.relied_keys())
    relied_keys = _still_there(ever_relied_on, present)
    keys = keys_by_table(relied_keys, model.conceptual)
    is_marked = model.technique == "data_vault_2"
    scopes = dict.fromkeys(keys, RowScope(blank=BROKEN_RULE.name)) if is_marked else {}
    tests = key_tests(relied_keys, model.conceptual, names, scopes)
    for relation, references in plan.reference_tests().items():
        tests[relation] = (*tests.get(relation, ()), *references)
    kept = kept_builds(model.conceptual, names, present)
    own = plan.builds()
    # A technique that adds to the staging of a table builds it itself, in the place of the view.
    replaced = {build.name for build in own}
    views = (
        sound(view, names, keys[view.title], marked=is_marked) if view.title in keys else view
        for view in staging
        if view.name not in replaced
    )
    keeps = _TECHNIQUES[model.technique][1]
    gone = dict.fromkeys(key.table for key in ever_relied_on)
    set_apart = quarantine_builds(model.conceptual, names, keeps, keys, gone, present)
    builds, unstated = with_source_promises(
        tuple(
            _with_tests(build, tests.get(build.name, ()))
            for build in (*kept, *set_apart, *views, *own)
        ),
        model.conceptual,
        names,
        plan.carriers(),
    )
    left_out = {} if is_marked else keys
    builds = with_guards(builds, model.conceptual, names, present, plan.carriers(), left_out)
    named = plan_names(model, names)
    return TransformPlan(
        name=identifier(model.name),
        technique=model.technique,
        sources=plan_sources(model.conceptual, names, present),
        builds=tuple(named.build(told_as_emptied(build)) for build in builds),
        renamed=_renamed(model.conceptual, names),
        unstated=unstated,
        column_names=model.column_names,
    )


def rebuilds(model: LogicalModel) -> tuple[Rebuild, ...]:
    """Return for each source table the query that rebuilds it."""
    names, _, plan = _technique_plan(_promising_what_is_there(model))
    named, present = plan_names(model, names), present_source(model)
    return tuple(
        named.rebuild(rebuild) for rebuild in plan.rebuilds() if present.has_table(rebuild.table)
    )


def kept_apart(model: LogicalModel) -> dict[str, KeptApart]:
    """Return by table how its rows are found that are in quarantine."""
    model = _promising_what_is_there(model)
    names, _, plan = _technique_plan(model)
    present = present_source(model)
    keys_of = keys_by_table(_still_there(plan.relied_keys(), present), model.conceptual)
    return {
        table: in_the_source(model.conceptual.entity(table), names, keys, present)
        for table, keys in keys_of.items()
    }


def _still_there(keys: Iterable[ReliedKey], present: PresentSource) -> tuple[ReliedKey, ...]:
    """Return the keys of what the source still has."""
    return tuple(key for key in keys if present.has(key.table, *key.columns))


def checks(model: LogicalModel) -> tuple[Check, ...]:
    """Return the figures to compare where a table doesn't come back row by row."""
    names, _, plan = _technique_plan(_promising_what_is_there(model))
    named, present = plan_names(model, names), present_source(model)
    return tuple(named.check(check) for check in plan.checks() if present.has_table(check.table))


def _promising_what_is_there(model: LogicalModel) -> LogicalModel:
    if model.evolution is None:
        return model
    conceptual = without_broken_promises(model.conceptual, present_source(model))
    return model.model_copy(update={"conceptual": conceptual})


def queries(plan: TransformPlan, model: LogicalModel) -> Iterator[str]:
    """Yield every query that builds a model, and that proves it."""
    for build in plan.builds:
        yield build.sql
        if build.next_load is not None:
            yield build.next_sql
    for rebuild in rebuilds(model):
        yield from (rebuild.sql, rebuild.original)
    for check in checks(model):
        yield from (check.expected, check.actual)
        if check.differing:
            yield check.differing


def _technique_plan(model: LogicalModel) -> tuple[SqlNames, tuple[Build, ...], _TechniquePlan]:
    plan, keeps = _TECHNIQUES[model.technique]
    names = sql_names(model.conceptual)
    present = present_source(model)
    staging = staging_builds(model.conceptual, names, keeps, present)
    return names, staging, plan(model, names, staging, present)


def _with_tests(build: Build, tests: tuple[BuildTest, ...]) -> Build:
    return build.model_copy(update={"tests": (*build.tests, *tests)}) if tests else build


def _renamed(conceptual: ConceptualModel, names: SqlNames) -> tuple[Renaming, ...]:
    """Return the names that differ from the source's in more than their spelling."""
    renamed = []
    for entity in conceptual.entities:
        table = names.table(entity.name)
        if table != identifier(entity.name):
            reason = _renaming_reason(entity)
            renamed.append(_renaming("table", entity.name, entity.name, table, reason))
        for attribute in entity.attributes:
            column = names.column(entity.name, attribute.name)
            if column != identifier(attribute.name):
                reason = _renaming_reason(attribute)
                renamed.append(_renaming("column", entity.name, attribute.name, column, reason))
    return tuple(renamed)


def _renaming(
    kind: Literal["table", "column"], table: str, source_name: str, name: str, reason: str
) -> Renaming:
    return Renaming(kind=kind, table=table, source_name=source_name, name=name, reason=reason)


def _renaming_reason(part: Entity | Attribute) -> str:
    if part.new_name is not None:
        is_legal = not is_reserved(part.new_name)
        return "a decision says so" if is_legal else _RESERVED_DECISION
    if is_reserved(part.name):
        return "the name is reserved on a target or used by the build"
    return "another name in the source is the same in snake_case"
