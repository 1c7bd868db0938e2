"""The type of what opens a store."""

from collections.abc import Callable

from fluid_build.copilot.store.base import Store

OpenStore = Callable[..., Store]
"""Opens the same store once more, as another process would."""
