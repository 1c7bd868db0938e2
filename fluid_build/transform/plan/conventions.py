"""A plan under the conventions of its model: how staging and the columns that loads add are called.

Every plan is made with the default names. They are no names of anything in a source, so that they
can be replaced wherever they stand: in one place, instead of in every query.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fluid_build.decisions.conventions import DEFAULT_CONVENTIONS
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import SqlNames, fit, free_identifier, with_names
from fluid_build.transform.plan.elements import (
    Build,
    BuildTest,
    Check,
    Filling,
    Guard,
    MacroCall,
    PlanColumn,
    Query,
    Rebuild,
    Relation,
    RowScope,
    SourceTable,
    Sql,
    SqlType,
)
from fluid_build.transform.plan.hashing import BINARY

_DEFAULT = DEFAULT_CONVENTIONS.columns


@dataclass(frozen=True)
class PlanNames:
    """The names of columns and of staging relations by the default ones, where they differ."""

    columns: Mapping[str, str] = field(default_factory=dict)
    relations: Mapping[str, str] = field(default_factory=dict)
    hash_type: str = ""

    def __bool__(self) -> bool:
        return bool(self.columns or self.relations or self.hash_type)

    def sql(self, sql: str) -> str:
        """Return SQL with the names."""
        relations = {f"model.{old}": f"model.{new}" for old, new in self.relations.items()}
        return with_names(sql, {**self.columns, **relations})

    def build(self, build: Build) -> Build:
        """Return a relation with the names."""
        if not self:
            return build
        return build.model_copy(
            update={
                "name": self.relations.get(build.name, build.name),
                "sql": self.sql(build.sql),
                "next_load": build.next_load and self.sql(build.next_load),
                "replaced": self.sql(build.replaced),
                "call": build.call and self._call(build.call),
                "filling": build.filling and self._filling(build.filling),
                "guard": build.guard and self._guard(build.guard),
                "outline": self.sql(build.outline),
                "ref_models": tuple(self.relations.get(name, name) for name in build.ref_models),
                "columns": tuple(map(self._column, build.columns)),
                "key": self._columns(build.key),
                "tests": tuple(map(self._test, build.tests)),
            }
        )

    def rebuild(self, rebuild: Rebuild) -> Rebuild:
        """Return the way back to a table with the names."""
        return rebuild.model_copy(update={"sql": self.sql(rebuild.sql)}) if self else rebuild

    def check(self, check: Check) -> Check:
        """Return a figure with the names."""
        fields = ("expected", "actual", "differing")
        update = {name: self.sql(getattr(check, name)) for name in fields}
        return check.model_copy(update=update) if self else check

    def _filling(self, filling: Filling) -> Filling:
        rows = self.relations.get(filling.rows, filling.rows)
        return filling.model_copy(update={"rows": rows, "keys": self._columns(filling.keys)})

    def _guard(self, guard: Guard) -> Guard:
        return guard.model_copy(
            update={
                "relation": self.relations.get(guard.relation, guard.relation),
                "scope": self._scope(guard.scope),
                "keys": tuple(
                    (self._columns(pair)[0], self._columns(pair)[1]) for pair in guard.keys
                ),
            }
        )

    def _columns(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self.columns.get(name, name) for name in names)

    def _column(self, column: PlanColumn) -> PlanColumn:
        update = {"name": self.columns.get(column.name, column.name)}
        if self.hash_type and ("hash-key" in column.tags or column.name in _HASHES):
            update |= {"type": self.hash_type, "contract_type": "binary"}
        return column.model_copy(update=update)

    def _test(self, test: BuildTest) -> BuildTest:
        return test.model_copy(
            update={
                "columns": self._columns(test.columns),
                "to_model": test.to_model and self.relations.get(test.to_model, test.to_model),
                "to_columns": self._columns(test.to_columns),
                "scope": self._scope(test.scope),
            }
        )

    def _scope(self, scope: RowScope) -> RowScope:
        if not scope.latest_of:
            return scope
        return scope.model_copy(
            update={
                "latest_of": self._columns(scope.latest_of),
                "loaded": self.columns.get(scope.loaded, scope.loaded),
                "deleted": self.columns.get(scope.deleted, scope.deleted),
            }
        )

    def _call(self, call: MacroCall) -> MacroCall:
        arguments = {name: self._argument(value) for name, value in call.arguments.items()}
        return MacroCall(macro=call.macro, arguments=arguments)

    def _argument(self, value: object) -> object:
        if isinstance(value, Relation):
            return Relation(self.relations.get(value, value))
        if isinstance(value, Sql | Query):
            return type(value)(self.sql(value))
        if isinstance(value, str):
            return (
                value
                if isinstance(value, SqlType | SourceTable)
                else self.columns.get(value, value)
            )
        if isinstance(value, Mapping):
            return {key: self._argument(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._argument(item) for item in value]
        return value


_HASHES = frozenset({_DEFAULT.hash_diff, _DEFAULT.row_hash})


def plan_names(model: LogicalModel, names: SqlNames) -> PlanNames:
    """Return the names that a model's conventions give."""
    if model.conventions is None:
        return PlanNames()
    relations: dict[str, str] = {}
    used = {*names.tables.values(), *names.sources.values()}
    for staging in names.stagings.values():
        new_name = model.conventions.prefixes.relation(staging)
        relations[staging] = free_identifier(fit(new_name), used)
        used.add(relations[staging])
    is_binary = model.dv2 is not None and model.conventions.hashing.stored_as == "binary"
    return PlanNames(
        columns=model.column_names.replaced,
        relations={old: new for old, new in relations.items() if old != new},
        hash_type=BINARY if is_binary else "",
    )
