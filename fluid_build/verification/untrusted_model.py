"""The plan of a model that was read from a file, which may be a stranger's.

No SQL is run that was read from a file: the plan is derived again from ``model.json``, and refused
where anything in the model could act as SQL.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
from pydantic import ValidationError

from fluid_build.errors import SourceUnreadableError
from fluid_build.modeling.logical import LogicalModel
from fluid_build.transform.plan.confinement import check_confined
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.techniques import queries, transform_plan
from fluid_build.transform.proof.manifest import not_as_written, read_text

MOST_BYTES = 256 * 1024 * 1024
"""Of a file in a forged folder: far more than a model of a thousand tables takes."""

_OUR_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_TYPE = re.compile(r"[A-Z_][A-Z0-9_ ]*(\(\d+(, ?\d+)?\))?")
_INCONSISTENT = (AssertionError, RuntimeError, StopIteration)
"""Raised by a model that refers to what it doesn't hold, or to itself without end."""


def read_model(path: Path) -> LogicalModel:
    """Return the model in a file; raise SourceUnreadableError where it isn't one."""
    text = read_text(path, MOST_BYTES)
    try:
        return LogicalModel.model_validate_json(text, strict=True, by_alias=True, by_name=True)
    except ValidationError as error:
        raise not_as_written(path, error) from None


def plan_of_file(path: Path, model: LogicalModel) -> TransformPlan:
    """Return the plan of a model from a file, after checking that nothing in it can act as SQL."""
    try:
        _check_layers(model)
        _check_types(model)
        plan = transform_plan(model)
        _check_names(plan)
        check_confined(queries(plan, model), plan)
    except (LookupError, ValueError, duckdb.Error, *_INCONSISTENT) as error:
        raise SourceUnreadableError(
            f"{path} can't be turned into a plan: {_reason(error)}.",
            hint="It was edited, or written by another version of Fluid Forge."
            " Run `fluid forge` again.",
        ) from error
    return plan


def _reason(error: Exception) -> str:
    if isinstance(error, _INCONSISTENT):
        return "its parts don't fit together"
    return str(error).splitlines()[0]


def _check_layers(model: LogicalModel) -> None:
    layers = {"data_vault_2": model.dv2, "dimensional": model.dimensional}
    if model.technique in layers and layers[model.technique] is None:
        raise ValueError(f"its technique is {model.technique}, but that layer is missing")


def _check_types(model: LogicalModel) -> None:
    for entity in model.conceptual.entities:
        for attribute in entity.attributes:
            conversion = attribute.conversion
            if conversion is not None and not _TYPE.fullmatch(conversion.to_type):
                raise ValueError(f"{conversion.to_type!r} isn't a type")


def _check_names(plan: TransformPlan) -> None:
    for name in _names(plan):
        if not _OUR_NAME.fullmatch(name):
            raise ValueError(f"{name!r} isn't a name that Fluid Forge generates")


def _names(plan: TransformPlan) -> Iterator[str]:
    yield from (source.id for source in plan.sources)
    for build in plan.builds:
        yield build.name
        yield from (column.name for column in build.columns)
