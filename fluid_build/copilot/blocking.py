"""The bridge between blocking and asynchronous code, in both directions.

Imported on use: ``asyncio`` takes as long to import as half of Pydantic.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def run_blocking(awaitable: Awaitable[T]) -> T:
    """Waits for ``awaitable`` without a loop; inside a running loop, on a thread with its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_await(awaitable))
    return _run_on_thread(lambda: asyncio.run(_await(awaitable)))


async def call_in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Calls a blocking function on a thread of its own, in a copy of this context.

    A thread cannot be stopped: if the caller is cancelled, this waits for the function's end, and
    only then passes the cancellation on, so that nothing is left running.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def deliver(settle: Callable[..., None], outcome: object) -> None:
        if not done.done():
            settle(outcome)

    def work() -> None:
        try:
            result = context.run(function, *args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - handed to the caller, whatever it is
            _carry(loop, deliver, done.set_exception, _portable(error))
        else:
            _carry(loop, deliver, done.set_result, result)

    context = contextvars.copy_context()
    threading.Thread(target=work, name="fluid-call", daemon=True).start()
    cancelled: asyncio.CancelledError | None = None
    while not done.done():
        try:
            await asyncio.wait([done])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        done.exception()
        raise cancelled
    return done.result()


def _carry(
    loop: asyncio.AbstractEventLoop,
    deliver: Callable[[Callable[..., None], object], None],
    settle: Callable[..., None],
    outcome: object,
) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(deliver, settle, outcome)


def _portable(error: BaseException) -> BaseException:
    """A future refuses ``StopIteration``, which would end the coroutine that awaits it."""
    if isinstance(error, StopIteration):
        wrapped = RuntimeError("a blocking call raised StopIteration")
        wrapped.__cause__ = error
        return wrapped
    return error


async def _await(awaitable: Awaitable[T]) -> T:
    return await awaitable


def _run_on_thread(function: Callable[[], T]) -> T:
    outcome: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(context.run(function))
        except BaseException as error:  # noqa: BLE001 - raised again by the waiting thread
            errors.append(error)

    context = contextvars.copy_context()
    thread = threading.Thread(target=work, name="fluid-loop", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return outcome[0]
