"""A digest of an agent's code, so that a saved run isn't resumed by other code unnoticed."""

from __future__ import annotations

import hashlib
import inspect
import sys
import types
from collections.abc import Iterator

_PACKAGE = "fluid_build.copilot.agents.composite"
"""Its classes are the runtime's, not the agent's own code."""


def code_fingerprint(agent: object) -> str:
    """Return a digest of the agent's own code and of Python's version, which it depends on."""
    digest = hashlib.sha256(sys.version.split()[0].encode())
    for cls in type(agent).__mro__:
        if cls.__module__.startswith(_PACKAGE) or cls is object:
            continue
        for name, member in sorted(vars(cls).items()):
            function = inspect.unwrap(getattr(member, "__func__", member))
            if isinstance(function, types.FunctionType):
                digest.update(name.encode())
                for part in _parts_of_code(function.__code__):
                    digest.update(part)
    return digest.hexdigest()


def function_fingerprint(function: object) -> str:
    """Return a digest of a function's code; objects without code have that of their class."""
    plain = inspect.unwrap(getattr(function, "__func__", function))  # type: ignore[arg-type]
    code = getattr(plain, "__code__", None)
    parts = [] if code is None else list(_parts_of_code(code))
    name = getattr(plain, "__qualname__", type(plain).__qualname__)
    return hashlib.sha256(b"\0".join([name.encode(), *parts])).hexdigest()


def _parts_of_code(code: types.CodeType) -> Iterator[bytes]:
    yield code.co_code
    yield repr(code.co_names).encode()
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _parts_of_code(constant)
        elif not isinstance(constant, frozenset):  # its order changes with the process
            yield repr(constant).encode()
