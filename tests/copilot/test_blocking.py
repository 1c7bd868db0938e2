"""Bridges between blocking and asynchronous code."""

import asyncio

import pytest

from fluid_build.copilot.blocking import run_blocking


async def fail():
    raise ValueError("its own")


def test_an_error_has_no_other_cause_than_its_own():
    """Without a running loop, and within one."""

    async def within_a_loop():
        run_blocking(fail())

    for call in (lambda: run_blocking(fail()), lambda: asyncio.run(within_a_loop())):
        with pytest.raises(ValueError, match="its own") as caught:
            call()
        assert caught.value.__context__ is None
