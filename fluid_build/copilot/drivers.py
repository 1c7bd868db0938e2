"""Two drivers for one protocol: what waits is written once, as a coroutine.

On an event loop a coroutine is awaited. A blocking caller gives it functions and items that block
instead (``immediate``, ``awaited``), so that nothing in it ever waits, and runs it to its end
without a loop (``finish``, ``each``).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def finish(coroutine: Coroutine[object, None, T]) -> T:
    """Return the result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise AssertionError("a coroutine without a loop has to wait")


def each(items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    """Yield the items of a generator that waits for nothing, and close it in the end."""
    try:
        while True:
            try:
                items.__anext__().send(None)
            except StopIteration as end:
                item = end.value
            except StopAsyncIteration:
                return
            yield item
    finally:
        finish(items.aclose())


async def awaited(items: Iterable[T]) -> AsyncGenerator[T, None]:
    """Yield items for a coroutine, which doesn't wait for them but blocks."""
    for item in items:
        yield item


def immediate(function: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    """Return a blocking function for a coroutine to await, which then doesn't wait."""

    async def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return function(*args, **kwargs)

    return call
