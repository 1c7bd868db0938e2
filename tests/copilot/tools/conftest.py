"""Registries of each test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fluid_build.copilot.tools.registry import (
    FORGE_TOOL_REGISTRY,
    STAGED_TOOL_REGISTRY,
    TOOL_REGISTRY,
)


@pytest.fixture(autouse=True)
def empty_registries() -> Iterator[None]:
    """Snapshot and restore, so that tools registered at import are there for other tests."""
    registries = (TOOL_REGISTRY, FORGE_TOOL_REGISTRY, STAGED_TOOL_REGISTRY)
    saved = [dict(registry) for registry in registries]
    for registry in registries:
        registry.clear()
    yield
    for registry, content in zip(registries, saved, strict=True):
        registry.clear()
        registry.update(content)  # type: ignore[arg-type]
