"""Bridges between blocking and asynchronous code, in both directions, and groups of tasks.

Import it where it is used: ``asyncio`` takes half as long to import as Pydantic.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_STOPPED_THREADS: contextvars.ContextVar[frozenset[int]] = contextvars.ContextVar(
    "fluid_stopped_threads", default=frozenset()
)


def stopped_threads() -> frozenset[int]:
    """Return the threads that wait in ``run_blocking`` until the code of this context ends."""
    return _STOPPED_THREADS.get()


def run_blocking(awaitable: Awaitable[T]) -> T:
    """Wait for ``awaitable``: without a running loop here, inside one on a thread of its own."""
    if _is_loop_running():
        return run_on_thread(lambda: asyncio.run(_await(awaitable)))
    return asyncio.run(_await(awaitable))


async def call_in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a blocking function on a thread of its own, in a copy of this context.

    A thread can't be stopped: if the caller is cancelled, this waits for the function to end before
    it passes the cancellation on, so that nothing is left running.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[T] = loop.create_future()

    def deliver(settle: Callable[..., None], outcome: object) -> None:
        if not ended.done():
            settle(outcome)

    def work() -> None:
        try:
            result = context.run(function, *args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - handed to the caller, whatever it is
            _settle_on_loop(loop, deliver, ended.set_exception, _portable(error))
        else:
            _settle_on_loop(loop, deliver, ended.set_result, result)

    context = contextvars.copy_context()
    threading.Thread(target=work, name="fluid-call", daemon=True).start()
    cancelled: asyncio.CancelledError | None = None
    while not ended.done():
        try:
            await asyncio.wait([ended])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        ended.exception()
        raise cancelled
    return ended.result()


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _settle_on_loop(
    loop: asyncio.AbstractEventLoop,
    deliver: Callable[[Callable[..., None], object], None],
    settle: Callable[..., None],
    outcome: object,
) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(deliver, settle, outcome)


def _portable(error: BaseException) -> BaseException:
    """Wrap ``StopIteration``, which a future refuses: it would end the awaiting coroutine."""
    if isinstance(error, StopIteration):
        wrapped = RuntimeError("a blocking call raised StopIteration")
        wrapped.__cause__ = error
        return wrapped
    return error


async def _await(awaitable: Awaitable[T]) -> T:
    return await awaitable


def run_on_thread(function: Callable[[], T]) -> T:
    """Wait for a function on a thread of its own, in a copy of this context.

    A signal interrupts the waiting at once, whatever the function does.
    """
    outcome: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(context.run(function))
        except BaseException as error:  # noqa: BLE001 - raised again by the waiting thread
            errors.append(error)

    context = contextvars.copy_context()
    context.run(_STOPPED_THREADS.set, stopped_threads() | {threading.get_ident()})
    thread = threading.Thread(target=work, name="fluid-loop", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return outcome[0]


@contextlib.asynccontextmanager
async def open_task_group() -> AsyncGenerator[asyncio.TaskGroup]:
    """Open a task group whose only error, which isn't an ``Exception``, is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
