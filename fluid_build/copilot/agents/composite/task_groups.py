"""Task groups whose tasks handle their own errors."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator


@contextlib.asynccontextmanager
async def open_task_group() -> AsyncGenerator[asyncio.TaskGroup]:
    """Open a task group whose only error, which isn't an ``Exception``, is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
