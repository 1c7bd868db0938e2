"""A contract as YAML that a person reads and any parser reads back the same."""

import re
from collections.abc import Iterator
from typing import Any

import yaml
from pydantic import BaseModel

from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.fluid.common import TaggedModel

_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
# What PyYAML would leave bare and a parser of YAML 1.2, or one that knows all of 1.1, misreads.
_MISREAD = re.compile(r"[-+]?(\d[\d_]*)?\.?\d*([eE][-+]?\d+)?|0o[0-7]+|[yYnN]")
# Line breaks to YAML 1.1 and none to 1.2.
_BREAKS = re.compile("[\x85\u2028\u2029]")
_UNFOLDED = 1_000_000


def contract_yaml(contract: FluidContract) -> str:
    """The contract as YAML: block style, keys in the order of the types, no aliases."""
    return yaml_text(as_document(contract))


def yaml_text(document: Any) -> str:
    """JSON data as YAML in block style, in its own order, without aliases."""
    text: str = yaml.dump(
        document,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=_UNFOLDED,
    )
    return text


def as_document(contract: BaseModel) -> dict[str, Any]:
    """The contract, or a part of it, as JSON data under the document's own keys.

    A field that is None is left out; tags and labels come after a part's own keys.
    """
    document = {key: _plain(value) for key, value in _items(contract) if value is not None}
    extra = contract.model_extra or {}
    return document | {key: _plain(value) for key, value in extra.items()}


def _items(part: BaseModel) -> Iterator[tuple[str, object]]:
    fields = type(part).model_fields
    common = TaggedModel.model_fields if isinstance(part, TaggedModel) else {}
    for name in [*(name for name in fields if name not in common), *common]:
        yield fields[name].alias or name, getattr(part, name)


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return as_document(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


class _Dumper(_DUMPER):  # type: ignore[misc]
    """Safe types only, every value written out."""

    def ignore_aliases(self, _data: object) -> bool:
        """Write out what is used twice, twice."""
        return True


def _text_node(dumper: Any, value: str) -> Any:
    style = None
    if _BREAKS.search(value):
        style = '"'
    elif "\n" in value.rstrip("\n"):
        style = "|"
    elif _MISREAD.fullmatch(value):
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text_node)
