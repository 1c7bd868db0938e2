"""Names in the semantic model that dbt accepts, and that have one meaning throughout.

dbt joins datasets by fields of the same name that are keys, so a name must not be a key here and a
category there, nor the key of two datasets that have nothing to do with each other. Its rules for
the names themselves: lower-case letters, digits and single underscores, at least two characters,
none of them an underscore at the end, and no name of a time granularity
(https://docs.getdbt.com/docs/build/semantic-models).
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from fluid_build.modeling.measures import MeasureRole
from fluid_build.modeling.sql_names import RESERVED, fit, free_identifier
from fluid_build.modeling.types import family
from fluid_build.transform.plan.elements import Build, BuildTest, TransformPlan

_RESERVED = RESERVED | frozenset(
    """
    day hour metric_time mf_internal_uuid microsecond millisecond minute month nanosecond quarter
    second week year
    """.split()
)
_TIMES = {"date", "timestamp"}

Role = Literal["key", "time", "category"]


@dataclass(frozen=True, slots=True)
class SemanticNames:
    """``datasets`` by build, ``fields`` by build and column, composite keys by build."""

    datasets: Mapping[str, str]
    fields: Mapping[str, Mapping[str, str]]
    composite_keys: Mapping[str, str]

    def of(self, build: str, columns: Collection[str]) -> tuple[str, ...]:
        """Return the fields of several columns of one build."""
        return tuple(self.fields[build][column] for column in columns)


def semantic_names(plan: TransformPlan) -> SemanticNames:
    """Return the names of everything that a plan publishes."""
    datasets: dict[str, str] = {}
    for build in plan.published:
        datasets[build.name] = free_identifier(legal(build.name, "data"), set(datasets.values()))
    ambiguous = _ambiguous(plan)
    fields: dict[str, dict[str, str]] = {}
    composite_keys: dict[str, str] = {}
    for build in plan.published:
        names: dict[str, str] = {}
        for column in build.columns:
            alone = legal(column.name, "field")
            preferred = fit(datasets[build.name], alone) if column.name in ambiguous else alone
            names[column.name] = free_identifier(preferred, set(names.values()))
        fields[build.name] = names
        if len(build.key) > 1:
            preferred = fit(datasets[build.name], "key")
            composite_keys[build.name] = free_identifier(preferred, set(names.values()))
    return SemanticNames(datasets, fields, composite_keys)


def references(build: Build, builds: Collection[str]) -> Iterator[BuildTest]:
    """Return the tests of a build that are references to one of these builds."""
    for test in build.tests:
        if test.is_join and test.to_model in builds:
            yield test


def unique_columns(build: Build) -> tuple[str, ...]:
    """Return the columns other than the key that identify a row by themselves."""
    return tuple(
        test.columns[0]
        for test in build.tests
        if test.kind == "unique"
        and len(test.columns) == 1
        and test.columns != build.key
        and test.severity != "info"
        and test.allowed == 0
    )


def is_time(type_: str) -> bool:
    """Whether a type of the contract is a point in time."""
    return family(type_) in _TIMES


def legal(name: str, kind: str) -> str:
    """Return the nearest name that dbt accepts; ``kind`` is appended to a reserved or short one."""
    plain = re.sub("_+", "_", name).rstrip("_")
    return f"{plain}_{kind}" if plain in _RESERVED or len(plain) < 2 else plain


def stated_role(role: MeasureRole) -> str:
    """Return how far a measure adds up, and why, as its metric says it."""
    sentences = [f"{role.additivity.capitalize()}: {role.reason}."]
    if role.weighted_by:
        sentences.append(f"The average is weighted by {role.weighted_by}.")
    if role.within:
        sentences.append(f"Amounts are in several currencies, so group by or filter {role.within}.")
    return " ".join(sentences)


def without_jinja(text: str) -> str:
    """Return a text without anything that dbt reads as Jinja, at the price of an extra space."""
    return re.sub(r"\{(?=[{%#])", "{ ", text)


def _ambiguous(plan: TransformPlan) -> set[str]:
    """Return columns whose name means different things in different builds."""
    published = {build.name for build in plan.published}
    roles: dict[str, set[Role]] = defaultdict(set)
    for build in plan.published:
        keys = _keys(build, published)
        for column in build.columns:
            time: Role = "time" if is_time(column.contract_type) else "category"
            roles[column.name].add("key" if column.name in keys else time)
    return {name for name, found_roles in roles.items() if len(found_roles) > 1} | _unrelated_keys(
        plan
    )


def _keys(build: Build, published: Collection[str]) -> set[str]:
    referring = {column for test in references(build, published) for column in test.columns}
    own = build.key if len(build.key) == 1 else ()
    return {*own, *referring, *unique_columns(build)}


def _unrelated_keys(plan: TransformPlan) -> set[str]:
    """Return names of the key of several builds that do not all refer to one another by it."""
    holders: dict[str, list[Build]] = defaultdict(list)
    for build in plan.published:
        if len(build.key) == 1:
            holders[build.key[0]].append(build)
    return {
        name
        for name, builds in holders.items()
        if sum(_shares_key(build, builds) for build in builds) < len(builds) - 1
    }


def _shares_key(build: Build, holders: list[Build]) -> bool:
    other_names = {holder.name for holder in holders if holder is not build}
    return any(
        test.columns == test.to_columns == build.key for test in references(build, other_names)
    )
