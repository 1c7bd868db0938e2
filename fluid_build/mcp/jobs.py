"""A tool's blocking work next to the server's event loop: reported, and stopped on demand."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from fluid_build.assistants.jobs import Job
from fluid_build.progress import Progress, stage_label

T = TypeVar("T")
SendProgress = Callable[[float, str], Awaitable[None]]
"""Sends a client a number that grows, and what is being done."""

_EVERY_SECONDS = 0.2
"""Between two reports: often enough to look alive, seldom enough to cost nothing."""


async def run_job(work: Callable[[Job], T], send: SendProgress) -> T:
    """Run work on a thread of its own, and send how far it is.

    If the caller is cancelled, the work is stopped, and has ended before the cancellation goes on:
    nothing is left running.
    """
    job, loop, ended = Job(), asyncio.get_running_loop(), anyio.Event()
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(context.run(work, job))
        except BaseException as error:  # noqa: BLE001 - raised again by the waiting task
            errors.append(error)
        finally:
            loop.call_soon_threadsafe(ended.set)

    context = contextvars.copy_context()
    threading.Thread(target=run, name="fluid-mcp-job", daemon=True).start()
    try:
        await _follow(job, ended, send)
    finally:
        if not ended.is_set():
            await _stop(job, ended)
    if errors:
        raise errors[0]
    return results[0]


async def _follow(job: Job, ended: anyio.Event, send: SendProgress) -> None:
    number, reported = 0.0, job.latest
    while not ended.is_set():
        with anyio.move_on_after(_EVERY_SECONDS):
            await ended.wait()
        latest = job.latest
        if latest is not None and latest != reported:
            number, reported = number + 1, latest
            await send(number, describe_progress(latest))


async def _stop(job: Job, ended: anyio.Event) -> None:
    with anyio.CancelScope(shield=True):
        while not ended.is_set():
            # Again and again: the next query may begin right after an interrupt.
            job.stop()
            with anyio.move_on_after(_EVERY_SECONDS):
                await ended.wait()


def describe_progress(progress: Progress) -> str:
    """Return a report as a sentence: ``Measuring columns: orders (3 of 14)``."""
    detail = f": {progress.detail}" if progress.detail else ""
    place = min(progress.done + 1, progress.total)
    part = f", {progress.part:.0%} of it" if progress.part else ""
    return f"{stage_label(progress)}{detail} ({place} of {progress.total}{part})"
