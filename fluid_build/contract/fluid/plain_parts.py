"""Parts of a contract that are validated and then stay plain mappings.

No code reads them key by key, so that a table of their keys is all they need. Findings in them are
those of the other parts: with the place, what's allowed and the nearest word.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, ValidatorFunctionWrapHandler
from pydantic_core import CoreSchema, core_schema

from fluid_build.contract.fluid.common import FreeForm, Problem, problems

LIST: Any = list
"""``list``, for items whose type is known at run time alone."""
Rule = Callable[[FreeForm], Iterable[Problem]]


@dataclass(frozen=True, eq=False)
class PlainPart:
    """The keys of a mapping with the type of each, and a rule over several of them, if any.

    ``is_open`` allows for keys that the part doesn't know.
    """

    keys: Mapping[str, Any]
    required: frozenset[str]
    is_open: bool
    rule: Rule | None = None

    @property
    def type(self) -> Any:
        """The type of such a mapping."""
        return Annotated[FreeForm, self]

    @property
    def list_type(self) -> Any:
        """The type of a list of such mappings."""
        return LIST[self.type]

    def with_keys(self, keys: Mapping[str, Any], *required: str) -> "PlainPart":
        """Return the part with more keys, some of them required."""
        return replace(self, keys={**self.keys, **keys}, required=self.required | {*required})

    def with_rule(self, rule: Rule) -> "PlainPart":
        """Return the part with a rule over several of its keys."""
        return replace(self, rule=rule)

    def __get_pydantic_core_schema__(
        self, _source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        fields = {
            key: core_schema.typed_dict_field(
                handler.generate_schema(type_), required=key in self.required
            )
            for key, type_ in self.keys.items()
        }
        schema = core_schema.typed_dict_schema(
            fields, extra_behavior="allow" if self.is_open else "forbid"
        )
        return core_schema.no_info_wrap_validator_function(self._judge, schema)

    def _judge(self, value: FreeForm, judge_keys: ValidatorFunctionWrapHandler) -> FreeForm:
        judge_keys(value)
        broken = tuple(self.rule(value)) if self.rule is not None else ()
        if broken:
            raise problems(*broken)
        return value
